/**
 * Schemas of the operations' responses. A schema with a title is published under that name. Here they allow no further fields, so that
 * handlers return only declared ones. The published ones allow further fields, so that fields can be added.
 */

const count = { type: 'integer', minimum: 0 } as const;
const int64 = (description: string) => ({ type: 'integer', format: 'int64', description }) as const;
const text = (description: string) => ({ type: 'string', description }) as const;
const flag = (description: string) => ({ type: 'boolean', description }) as const;
const strings = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const;

export const FLEET_STATUSES = [
  'active',
  'degraded',
  'stale',
  'initializing',
  'disabled',
  'unsupported',
  'no_data',
] as const;

type Status = (typeof FLEET_STATUSES)[number];

export const fleetStatus = {
  title: 'FleetStatus',
  type: 'string',
  enum: FLEET_STATUSES,
  description:
    'Overall collection status of a host.\n' +
    '- `active`: a fresh snapshot without degradation\n' +
    '- `degraded`: collecting, but impaired: `reason_codes` say how\n' +
    '- `stale`: no new snapshot within 2 times the report interval\n' +
    '- `initializing`: the agent reported the capability, and the first snapshot is not ready\n' +
    '- `disabled`: collection is disabled on the host\n' +
    '- `unsupported`: the agent or kernel does not support it\n' +
    '- `no_data`: no report at all',
} as const;

const capability = {
  title: 'ServiceMapCapability',
  type: 'object',
  description:
    'ServiceMap capability and current collection status of a host, joined from inventory and live state. A field without a value is absent.',
  required: ['enabled', 'status', 'snapshot_ready', 'authoritative', 'graph_available', 'node_count', 'edge_count'],
  additionalProperties: false,
  properties: {
    enabled: flag('Collection is enabled on the host'),
    status: fleetStatus,
    capability_status: text('As the agent reports it, such as running, disabled, starting, failed, unsupported'),
    capture_mode: text('How the agent captures, such as ebpf or polling; absent until it is reported'),
    report_interval_ms: int64('Configured reporting interval in milliseconds; 60000 is assumed when absent'),
    snapshot_ready: flag('The agent has produced at least one full snapshot'),
    authoritative: flag('The host has an authoritative current graph, according to its report'),
    graph_available: flag('A current graph can be fetched for the host right now'),
    freshness_status: {
      title: 'FreshnessStatus',
      type: 'string',
      enum: ['fresh', 'stale', 'unknown'],
      description:
        '`fresh`: the latest snapshot was received within 2 times the report interval; `stale`: earlier; `unknown`: never',
    },
    max_age_ms: int64(
      "Age of the host's graph in milliseconds at generated_at_ms, never below 0; absent without a snapshot",
    ),
    observed_at_ms: int64('When the agent observed the graph: Unix time in milliseconds'),
    received_at_ms: int64('When the service received the graph: Unix time in milliseconds'),
    node_count: int64('Nodes in the current graph; 0 without one'),
    edge_count: int64('Edges in the current graph; 0 without one'),
    reason_codes: strings(
      'Reasons for the status, absent if there are none. Also `value_cut`: a text or list of the host is shortened, as it is too large',
    ),
    error_code: {
      type: 'string',
      enum: ['status_unavailable'],
      description: 'Present if the live status could not be read; the other fields are then based on the inventory',
    },
  },
} as const;

const coverage = {
  title: 'FleetCoverage',
  type: 'object',
  description: "What was examined for this page; not a count of the account's hosts",
  required: ['scanned', 'matched', 'returned', 'failed', 'states'],
  additionalProperties: false,
  properties: {
    scanned: { ...count, description: 'Hosts examined, at most scan_limit' },
    matched: { ...count, description: 'Of those, hosts that passed all filters' },
    returned: { ...count, description: 'Of those, hosts in items, at most limit' },
    failed: { ...count, description: 'Examined hosts, matching or not, whose live status could not be read' },
    states: {
      title: 'FleetStates',
      type: 'object',
      description: 'Number of items by status, of this page only: always all seven keys, which add up to `returned`',
      required: FLEET_STATUSES,
      additionalProperties: false,
      properties: Object.fromEntries(FLEET_STATUSES.map((status) => [status, count])) as Record<Status, typeof count>,
    },
  },
} as const;

export const fleetPage = {
  title: 'FleetPage',
  type: 'object',
  description: 'One page of hosts in ascending order of host_id',
  required: ['items', 'coverage', 'partial', 'truncated', 'generated_at_ms'],
  additionalProperties: false,
  properties: {
    items: {
      type: 'array',
      description: 'The matching hosts of the page; may be empty although more pages follow',
      items: {
        title: 'ServiceMapFleetHost',
        type: 'object',
        description: 'A host of the account with the state of its network-topology collection',
        required: ['host_id', 'agent_version', 'edge_cluster', 'servicemap'],
        additionalProperties: false,
        properties: {
          host_id: text('Stable identifier of the host'),
          agent_version: text('Agent version that the host reports'),
          edge_cluster: text('Name of the edge cluster that the host belongs to'),
          servicemap: capability,
        },
      },
    },
    coverage,
    partial: flag(
      'True if `truncated` is true, or the live status of an examined host could not be read, even of one that did not match',
    ),
    truncated: flag(
      'More hosts are left, and the page ended early: after `scan_limit` hosts, or because the hosts are very large. Continue with `next_cursor`',
    ),
    truncation_reasons: strings(
      'Present when truncated is true. scan_limit_reached, or page_size_reached: the hosts are so large that reading more would take too long',
    ),
    next_cursor: text('Send it back as cursor for the next page; absent when no host is left'),
    generated_at_ms: int64('When the page was generated: Unix time in milliseconds'),
  },
} as const;

const rumFields = {
  account_id: int64('The account that the record belongs to'),
  product: text('Currently always rum'),
  version: text('Plan version, such as free or professional'),
  status: text('Whether the plan is in force, such as enabled or disabled'),
  offering_id: int64('The offering that was ordered'),
  order_id: text('The order'),
  resource_id: text('Identifier of the record'),
  resource_name: text('Name of the record, for people'),
  created_at: int64('Unix time in seconds'),
  updated_at: int64('Unix time in seconds'),
  window_start_time: int64('Start of the plan window: Unix time in seconds'),
  window_end_time: int64('End of the plan window: Unix time in seconds'),
  'action.days': int64('Days that actions are kept'),
  'error.days': int64('Days that errors are kept'),
  'long_task.days': int64('Days that long tasks are kept'),
  'resource.days': int64('Days that resources are kept'),
  'session.days': int64('Days that sessions are kept'),
  'view.days': int64('Days that views are kept'),
  session_limit_reached: flag('A session quota of the window is used up; false if nothing was used yet'),
  'session_investigate.free_cnt': int64('Free quota of investigated sessions in the window'),
  'session_investigate.used_cnt': int64('Investigated sessions used in the window so far; 0 when none'),
  'session_measure.free_cnt': int64('Free quota of measured sessions in the window'),
  'session_measure.used_cnt': int64('Measured sessions used in the window so far; 0 when none'),
  'session_replay.free_cnt': int64('Free quota of replayed sessions in the window'),
  'session_replay.used_cnt': int64('Replayed sessions used in the window so far; 0 when none'),
} as const;

/** The fields of {@link rumResource} that are stored in the usage row. The others are in the resource row. */
export const USAGE_FIELDS = [
  'session_limit_reached',
  'session_investigate.used_cnt',
  'session_measure.used_cnt',
  'session_replay.used_cnt',
] as const;

export const rumResource = {
  title: 'RumResource',
  type: 'object',
  description:
    "The account's RUM plan and quotas, which may be as old as the header Age says, and the usage of the current window",
  required: Object.keys(rumFields) as (keyof typeof rumFields)[],
  additionalProperties: false,
  properties: rumFields,
} as const;
