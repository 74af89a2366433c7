import { fieldRefusal, type Operation } from '../../http/operation.ts';
import { flagField, int64Field, textField, textsField } from '../../shared/json.ts';

const count = { type: 'integer', minimum: 0 } as const;

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

const fleetStatus = {
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

const serviceMap = {
  title: 'ServiceMapCapability',
  type: 'object',
  description:
    'ServiceMap capability and current collection status of a host, joined from inventory and live state. A field without a value is absent.',
  required: ['enabled', 'status', 'snapshot_ready', 'authoritative', 'graph_available', 'node_count', 'edge_count'],
  additionalProperties: false,
  properties: {
    enabled: flagField('Collection is enabled on the host'),
    status: fleetStatus,
    capability_status: textField('As the agent reports it, such as running, disabled, starting, failed, unsupported'),
    capture_mode: textField('How the agent captures, such as ebpf or polling; absent until it is reported'),
    report_interval_ms: int64Field('Configured reporting interval in milliseconds; 60000 is assumed when absent'),
    snapshot_ready: flagField('The agent has produced at least one full snapshot'),
    authoritative: flagField('The host has an authoritative current graph, according to its report'),
    graph_available: flagField('A current graph can be fetched for the host right now'),
    freshness_status: {
      title: 'FreshnessStatus',
      type: 'string',
      enum: ['fresh', 'stale', 'unknown'],
      description:
        '`fresh`: the latest snapshot was received within 2 times the report interval; `stale`: earlier; `unknown`: never',
    },
    max_age_ms: int64Field(
      "Age of the host's graph in milliseconds at generated_at_ms, never below 0; absent without a snapshot",
    ),
    observed_at_ms: int64Field('When the agent observed the graph: Unix time in milliseconds'),
    received_at_ms: int64Field('When the service received the graph: Unix time in milliseconds'),
    node_count: int64Field('Nodes in the current graph; 0 without one'),
    edge_count: int64Field('Edges in the current graph; 0 without one'),
    reason_codes: textsField(
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

const fleetPage = {
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
          host_id: textField('Stable identifier of the host'),
          agent_version: textField('Agent version that the host reports'),
          edge_cluster: textField('Name of the edge cluster that the host belongs to'),
          servicemap: serviceMap,
        },
      },
    },
    coverage,
    partial: flagField(
      'True if `truncated` is true, or the live status of an examined host could not be read, even of one that did not match',
    ),
    truncated: flagField(
      'More hosts are left, and the page ended early: after `scan_limit` hosts, or because the hosts are very large. Continue with `next_cursor`',
    ),
    truncation_reasons: textsField(
      'Present when truncated is true. scan_limit_reached, or page_size_reached: the hosts are so large that reading more would take too long',
    ),
    next_cursor: textField('Send it back as cursor for the next page; absent when no host is left'),
    generated_at_ms: int64Field('When the page was generated: Unix time in milliseconds'),
  },
} as const;

/** A filter of the list: the values that it accepts. */
const filter = <const Items>(items: Items, description: string, maxItems = 20) =>
  ({ type: 'array', maxItems, items, description }) as const;

export const browseFleet = {
  name: 'browse-fleet',
  method: 'POST',
  path: '/monit/servicemap/fleet',
  summary: 'List the hosts of the account with the state of their network-topology collection',
  description:
    'Requires the permission Targets Read (`monit`).\n\n' +
    'One page of hosts in ascending order of `host_id`, each with its status at `generated_at_ms`. All filters given must match; ' +
    'an empty one matches every host. A page ends when it is full, when `scan_limit` hosts were examined, or with the last host; ' +
    '`next_cursor` is present as long as hosts are left. If live status cannot be read, hosts are shown from the inventory, ' +
    '`coverage.failed` counts them, and `partial` is true.\n\n' +
    'A call counts against the limits of 2 a second and 30 a minute once it has passed all other checks. Responses to counted calls ' +
    '(200, and 500 or 503 of the operation itself) and the 429 of these limits have the rate-limit headers. No other response has them: ' +
    'the 429 of the usage plan (50 calls a second for each account and operation) has `Retry-After` alone.',
  tag: 'Monitoring',
  permission: 'monit',
  rateWindows: [
    { name: 'second', limit: 2, seconds: 1 },
    { name: 'minute', limit: 30, seconds: 60 },
  ],
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'rateCount'] },
    { actions: ['UpdateItem'], on: ['rateCount'] },
    { actions: ['Query'], on: ['host', 'hostStatus'] },
    { actions: ['BatchGetItem'], on: ['hostStatus'] },
  ],
  concurrencyShare: 0.2,
  request: {
    title: 'BrowseFleetRequest',
    type: 'object',
    properties: {
      cursor: {
        type: 'string',
        description:
          'The next_cursor of the previous page, unchanged; absent or empty for the first page. Never construct one',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 50,
        description: 'Maximum number of matching hosts in the page',
      },
      scan_limit: {
        type: 'integer',
        minimum: 1,
        maximum: 2000,
        default: 1000,
        description: 'Maximum number of hosts examined to fill the page: at least limit, at most 2000',
      },
      statuses: filter(fleetStatus, 'Hosts in any of these statuses; all when absent or empty'),
      agent_versions: filter(
        { type: 'string' },
        'Hosts with any of these agent versions, compared exactly; all when absent or empty',
      ),
      edge_clusters: filter(
        { type: 'string' },
        'Hosts in any of these edge clusters, compared exactly; all when absent or empty',
      ),
      capture_modes: filter(
        { title: 'CaptureMode', type: 'string', enum: ['ebpf', 'polling', 'unknown'] },
        'Hosts with any of these capture modes; unknown matches hosts that have not reported one',
        3,
      ),
    },
  },
  response: fleetPage,
  example: {
    request: { limit: 1, statuses: ['stale', 'degraded'] },
    data: {
      items: [
        {
          host_id: 'fra-1-cache-0216',
          agent_version: '4.10.7',
          edge_cluster: 'fra-1',
          servicemap: {
            enabled: true,
            status: 'degraded',
            capability_status: 'running',
            capture_mode: 'ebpf',
            report_interval_ms: 43_200_000,
            snapshot_ready: true,
            authoritative: true,
            graph_available: true,
            freshness_status: 'fresh',
            max_age_ms: 17_898,
            observed_at_ms: 1_795_231_209_606,
            received_at_ms: 1_795_231_209_956,
            node_count: 15,
            edge_count: 30,
            reason_codes: ['snapshot_degraded'],
          },
        },
      ],
      coverage: {
        scanned: 7,
        matched: 1,
        returned: 1,
        failed: 0,
        states: { active: 0, degraded: 1, stale: 0, initializing: 0, disabled: 0, unsupported: 0, no_data: 0 },
      },
      partial: false,
      truncated: false,
      next_cursor: 'SSAMowHlNqTmsu2IPHdy42ZyYS0xLWNhY2hlLTAyMTY',
      generated_at_ms: 1_795_231_227_854,
    },
  },
  refusals: [
    fieldRefusal('The cursor is of another account', { field: 'cursor', schema: { type: 'string', format: 'cursor' } }),
    fieldRefusal('scan_limit is below a limit of 100', {
      field: 'scan_limit',
      schema: { type: 'integer', minimum: 100, maximum: 2000, 'x-minimum-field': 'limit' },
    }),
  ],
} as const satisfies Operation;
