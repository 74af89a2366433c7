/**
 * The contract's tables of answers as schemas, written from the contract alone: nothing here is derived from the service's
 * own description, so that mistakes there are noticed.
 */

type Fields = Record<string, object>;

/** What the contract says of an operation. */
export interface OperationContract {
  readonly path: string;
  /** The permission that the account needs; absent: any valid key may call. */
  readonly permission?: string;
  /** Largest body; absent: {@link MAX_BODY_BYTES}. */
  readonly maxBodyBytes?: number;
  /** Schema of `data` in a success. */
  readonly data: object;
}

export const MAX_BODY_BYTES = 256 * 1_024;

/** Parts of the schemas that sections state for their answers. */
export const text = { type: 'string' };
export const flag = { type: 'boolean' };
/** Exact over the whole int64 range. */
export const integer = { int64: {} };
const natural = { int64: { minimum: 0 } };
const oneOf = (...values: string[]) => ({ type: 'string', enum: values });
const listOf = (items: object) => ({ type: 'array', items });
/** An object with these fields and no others. */
export const object = (required: Fields, optional: Fields = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: false,
});
/** A page of a list. */
export const pageOf = (item: object) =>
  object({ items: listOf(item), has_next_page: flag }, { search_after_ctx: text });

/** What the operations of the feed tell of items that they refuse. */
const REFUSED = { refused: listOf(object({ index: natural, reason: text })), refused_count: natural };
export const FEED_RESULT = object({ accepted: natural }, REFUSED);

export const STATUSES = ['active', 'degraded', 'stale', 'initializing', 'disabled', 'unsupported', 'no_data'];

const capability = object(
  {
    enabled: flag,
    status: oneOf(...STATUSES),
    snapshot_ready: flag,
    authoritative: flag,
    graph_available: flag,
    node_count: natural,
    edge_count: natural,
  },
  {
    capability_status: text,
    capture_mode: text,
    report_interval_ms: integer,
    freshness_status: oneOf('fresh', 'stale', 'unknown'),
    max_age_ms: integer,
    observed_at_ms: integer,
    received_at_ms: integer,
    reason_codes: listOf(text),
    error_code: oneOf('status_unavailable'),
  },
);

const host = object({ host_id: text, agent_version: text, edge_cluster: text, servicemap: capability });

const coverage = object({
  scanned: natural,
  matched: natural,
  returned: natural,
  failed: natural,
  states: object(Object.fromEntries(STATUSES.map((status) => [status, natural]))),
});

export const fleetPage = object(
  { items: listOf(host), coverage, partial: flag, truncated: flag, generated_at_ms: integer },
  { truncation_reasons: listOf(text), next_cursor: text },
);

const SEVERITIES = ['Critical', 'Warning', 'Info'];
const texts = { type: 'object', additionalProperties: text };
export const alertItem = object(
  { account_id: integer, alert_id: text, title: text, labels: texts },
  {
    alert_key: text,
    alert_severity: oneOf(...SEVERITIES),
    alert_status: oneOf(...SEVERITIES, 'Ok'),
    description: text,
    annotations: texts,
    source_url: text,
    ...Object.fromEntries(
      ['start_time', 'last_time', 'end_time', 'created_at', 'updated_at'].map((name) => [name, natural]),
    ),
    incident: object({ incident_id: text }, { title: text }),
  },
);

/** The table of error codes. */
export const CODES: Readonly<Record<string, number>> = {
  OK: 200,
  InvalidParameter: 400,
  BadRequest: 400,
  InvalidContentType: 400,
  ResourceNotFound: 400,
  NoLicense: 400,
  ReferenceExist: 400,
  Unauthorized: 401,
  BalanceNotEnough: 402,
  AccessDenied: 403,
  RouteNotFound: 404,
  MethodNotAllowed: 405,
  UndonedOrderExist: 409,
  EntityTooLarge: 413,
  RequestLocked: 423,
  RequestVerifyRequired: 428,
  DangerousOperation: 428,
  RequestTooFrequently: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
};

export const success = (data: object) => object({ request_id: text, data });
export const failure = object({
  request_id: { type: 'string', minLength: 1 },
  error: object({ code: oneOf(...Object.keys(CODES)), message: { type: 'string', minLength: 1 } }, REFUSED),
});
