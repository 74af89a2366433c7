/**
 * The list of operations: what is served, to whom, how often, and which bodies go in and out. Handlers, stack, local
 * gateway, reference and tests all read it; each entry is exported alone so that a bundle carries only its own.
 */
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { Int64 } from '../json.ts';

/** A window of the exact limit: at most `limit` calls of one account in each `seconds` of the clock. */
export interface RateWindow {
  readonly name: string;
  readonly limit: number;
  readonly seconds: number;
}

export interface Operation {
  /** Also the name of the function's file. */
  readonly name: string;
  readonly method: 'POST';
  readonly path: `/${string}`;
  readonly summary: string;
  /** What an account's `permissions` must hold; absent: any valid key may call. */
  readonly permission?: string;
  /** The exact limit that the handler keeps, the shorter window first; absent: the usage plan alone. */
  readonly rateWindows?: readonly [RateWindow, RateWindow];
  /** The usage plan's throttle per account: calls a second, and burst. */
  readonly throttle: { readonly rate: number; readonly burst: number };
  /** Whether the operation takes an `Idempotency-Key` header. */
  readonly idempotent?: boolean;
  readonly request: JSONSchema & { readonly properties: object };
  /** Schema of `data` in a successful answer. */
  readonly response: JSONSchema;
}

type Int64Pattern = { pattern: { type: 'integer'; format: 'int64' }; output: Int64 };
type Typed<S extends JSONSchema> = FromSchema<S, { deserialize: [Int64Pattern] }>;

/** The validated body of an operation, defaults filled in. */
export type RequestOf<O extends Operation> = Typed<O['request']>;
/** The `data` of an operation's answer. */
export type ResponseOf<O extends Operation> = Typed<O['response']>;

const count = { type: 'integer', minimum: 0 } as const;
const int64 = { type: 'integer', format: 'int64' } as const;
const milliseconds = { type: 'integer', format: 'int64', description: 'Unix time in milliseconds' } as const;
const seconds = { type: 'integer', format: 'int64', description: 'Unix time in seconds' } as const;
const strings = { type: 'array', items: { type: 'string' } } as const;
const objectId = { type: 'string', format: 'objectid', pattern: '^[0-9a-fA-F]{24}$' } as const;

export const FLEET_STATUSES = [
  'active',
  'degraded',
  'stale',
  'initializing',
  'disabled',
  'unsupported',
  'no_data',
] as const;

const PLAN = { rate: 50, burst: 100 } as const;

export const browseFleet = {
  name: 'browse-fleet',
  method: 'POST',
  path: '/monit/servicemap/fleet',
  summary: 'List the hosts of the account with the state of their network-topology collection',
  permission: 'monit',
  rateWindows: [
    { name: 'second', limit: 2, seconds: 1 },
    { name: 'minute', limit: 30, seconds: 60 },
  ],
  throttle: PLAN,
  request: {
    type: 'object',
    properties: {
      cursor: {
        type: 'string',
        description: 'The next_cursor of the previous page; absent or empty for the first page',
      },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 50, description: 'Most matching hosts in the page' },
      scan_limit: {
        type: 'integer',
        minimum: 1,
        maximum: 2000,
        default: 1000,
        description: 'Most hosts examined to fill the page, from limit to 2000; without limit at least 50, its default',
      },
      statuses: {
        type: 'array',
        maxItems: 20,
        items: { type: 'string', enum: FLEET_STATUSES },
        description: 'Hosts in any of these states',
      },
      agent_versions: { type: 'array', maxItems: 20, items: { type: 'string' }, description: 'Exact agent versions' },
      edge_clusters: { type: 'array', maxItems: 20, items: { type: 'string' }, description: 'Exact edge clusters' },
      capture_modes: {
        type: 'array',
        maxItems: 3,
        items: { type: 'string', enum: ['ebpf', 'polling', 'unknown'] },
        description: 'Capture modes; unknown matches hosts that have not reported one',
      },
    },
  },
  response: {
    type: 'object',
    required: ['items', 'coverage', 'partial', 'truncated', 'generated_at_ms'],
    additionalProperties: false,
    properties: {
      items: {
        type: 'array',
        items: {
          type: 'object',
          required: ['host_id', 'agent_version', 'edge_cluster', 'servicemap'],
          additionalProperties: false,
          properties: {
            host_id: { type: 'string' },
            agent_version: { type: 'string' },
            edge_cluster: { type: 'string' },
            servicemap: {
              type: 'object',
              required: [
                'enabled',
                'status',
                'snapshot_ready',
                'authoritative',
                'graph_available',
                'node_count',
                'edge_count',
              ],
              additionalProperties: false,
              properties: {
                enabled: { type: 'boolean' },
                status: { type: 'string', enum: FLEET_STATUSES },
                capability_status: { type: 'string' },
                capture_mode: { type: 'string' },
                report_interval_ms: int64,
                snapshot_ready: { type: 'boolean' },
                authoritative: { type: 'boolean' },
                graph_available: { type: 'boolean' },
                freshness_status: { type: 'string', enum: ['fresh', 'stale', 'unknown'] },
                max_age_ms: {
                  type: 'integer',
                  format: 'int64',
                  description: "Age of the host's graph in milliseconds",
                },
                observed_at_ms: milliseconds,
                received_at_ms: milliseconds,
                node_count: int64,
                edge_count: int64,
                reason_codes: {
                  ...strings,
                  description:
                    'Why the status is what it is; value_cut: a text or list of the host was too large to show whole',
                },
                error_code: { type: 'string', enum: ['status_unavailable'] },
              },
            },
          },
        },
      },
      coverage: {
        type: 'object',
        required: ['scanned', 'matched', 'returned', 'failed', 'states'],
        additionalProperties: false,
        properties: {
          scanned: count,
          matched: count,
          returned: count,
          failed: count,
          states: {
            type: 'object',
            required: FLEET_STATUSES,
            additionalProperties: false,
            properties: {
              active: count,
              degraded: count,
              stale: count,
              initializing: count,
              disabled: count,
              unsupported: count,
              no_data: count,
            },
          },
        },
      },
      partial: { type: 'boolean' },
      truncated: { type: 'boolean' },
      truncation_reasons: {
        ...strings,
        description:
          'scan_limit_reached, or page_size_reached: the hosts are so large that reading more would take too long',
      },
      next_cursor: { type: 'string' },
      generated_at_ms: milliseconds,
    },
  },
} as const satisfies Operation;

export const getRumResource = {
  name: 'get-rum-resource',
  method: 'POST',
  path: '/rum/resource/info',
  summary: "Read the account's RUM plan, quotas and usage",
  throttle: PLAN,
  request: {
    type: 'object',
    properties: {
      no_cache: {
        type: 'boolean',
        default: false,
        description: 'Read the record (plan, quotas, status) from its source, past the short-lived cache',
      },
    },
  },
  response: {
    type: 'object',
    required: [
      'account_id',
      'product',
      'version',
      'status',
      'offering_id',
      'order_id',
      'resource_id',
      'resource_name',
      'created_at',
      'updated_at',
      'window_start_time',
      'window_end_time',
      'action.days',
      'error.days',
      'long_task.days',
      'resource.days',
      'session.days',
      'view.days',
      'session_limit_reached',
      'session_investigate.free_cnt',
      'session_investigate.used_cnt',
      'session_measure.free_cnt',
      'session_measure.used_cnt',
      'session_replay.free_cnt',
      'session_replay.used_cnt',
    ],
    additionalProperties: false,
    properties: {
      account_id: int64,
      product: { type: 'string' },
      version: { type: 'string', enum: ['free', 'professional'] },
      status: { type: 'string', enum: ['enabled', 'disabled'] },
      offering_id: int64,
      order_id: { type: 'string' },
      resource_id: { type: 'string' },
      resource_name: { type: 'string' },
      created_at: seconds,
      updated_at: seconds,
      window_start_time: seconds,
      window_end_time: seconds,
      'action.days': int64,
      'error.days': int64,
      'long_task.days': int64,
      'resource.days': int64,
      'session.days': int64,
      'view.days': int64,
      session_limit_reached: { type: 'boolean' },
      'session_investigate.free_cnt': int64,
      'session_investigate.used_cnt': int64,
      'session_measure.free_cnt': int64,
      'session_measure.used_cnt': int64,
      'session_replay.free_cnt': int64,
      'session_replay.used_cnt': int64,
    },
  },
} as const satisfies Operation;

export const deleteWorkItem = {
  name: 'delete-work-item',
  method: 'POST',
  path: '/incident/work-item/delete',
  summary: 'Soft-delete a work item',
  throttle: PLAN,
  request: {
    type: 'object',
    required: ['work_item_id', 'version'],
    properties: {
      work_item_id: { type: 'string', minLength: 1, maxLength: 128, description: 'The work item to delete' },
      version: {
        type: 'integer',
        format: 'int64',
        minimum: 1,
        'x-maximum': '9223372036854775806',
        description: 'Its stored version',
      },
    },
  },
  response: { type: 'object', properties: {}, additionalProperties: false },
} as const satisfies Operation;

export const mergeAlerts = {
  name: 'merge-alerts',
  method: 'POST',
  path: '/alert/merge',
  summary: 'Merge alerts into an incident',
  throttle: PLAN,
  idempotent: true,
  request: {
    type: 'object',
    required: ['alert_ids', 'incident_id'],
    properties: {
      alert_ids: { type: 'array', minItems: 1, items: objectId, description: 'Alerts of the account' },
      incident_id: { ...objectId, description: 'The incident that takes the alerts' },
      comment: { type: 'string', maxLength: 1024, description: 'Recorded on the feed entry of the merge' },
      title: { type: 'string', maxLength: 512, description: 'New title of the incident' },
      owner_id: { type: 'integer', format: 'int64', description: 'Member id of the new owner of the incident' },
    },
  },
  response: { type: 'null' },
} as const satisfies Operation;

export const operations = [browseFleet, getRumResource, deleteWorkItem, mergeAlerts] as const satisfies Operation[];

/** Where the description of the API is published: for anyone, without a key. */
export const description = { method: 'GET', path: '/openapi.json' } as const;

/** The method of each path that is served; all others are refused. */
export const allowedMethods: Readonly<Record<string, string>> = Object.fromEntries(
  [...operations, description].map(({ method, path }) => [path, method]),
);
