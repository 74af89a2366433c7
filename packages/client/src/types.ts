// Generated from openapi.json by `npm run generate`: do not edit.
import type { CallOptions, Command } from './options.ts';

/**
 * The authoritative signal: act on this code; the HTTP status is informational. Codes may be added: handle unknown ones by status.
 *
 * | code | HTTP | meaning |
 * |---|---|---|
 * | `OK` | 200 | The request succeeded. Reserved: no operation returns it. |
 * | `InvalidParameter` | 400 | A parameter is missing or invalid. |
 * | `BadRequest` | 400 | The request cannot be processed. |
 * | `InvalidContentType` | 400 | The Content-Type header must be application/json. |
 * | `ResourceNotFound` | 400 | The resource does not exist. HTTP 400, not 404. |
 * | `NoLicense` | 400 | This feature requires a license, and no active license was found. Reserved: no operation returns it. |
 * | `ReferenceExist` | 400 | The resource is still referenced and cannot be deleted. Reserved: no operation returns it. |
 * | `Unauthorized` | 401 | The app_key is missing, invalid or expired. Send exactly one valid app_key query parameter. |
 * | `BalanceNotEnough` | 402 | The account balance is insufficient for this operation. Reserved: no operation returns it. |
 * | `AccessDenied` | 403 | The account lacks the permission that this operation requires. |
 * | `RouteNotFound` | 404 | Unknown path. Check the URL of the operation. |
 * | `MethodNotAllowed` | 405 | This path does not accept that method. |
 * | `UndonedOrderExist` | 409 | An outstanding order blocks a new one. Wait and retry. Reserved: no operation returns it. |
 * | `EntityTooLarge` | 413 | The request body is too large. |
 * | `RequestLocked` | 423 | The operation is temporarily locked after repeated failures. Reserved: no operation returns it. |
 * | `RequestVerifyRequired` | 428 | This request requires second-factor verification. Reserved: no operation returns it. |
 * | `DangerousOperation` | 428 | This high-risk operation requires multi-factor verification. Reserved: no operation returns it. |
 * | `RequestTooFrequently` | 429 | Too many requests. Try again after the time in the Retry-After header. The limit may be API-global, per-account or per-integration. |
 * | `InternalError` | 500 | Internal error. Report it with the request_id. |
 * | `ServiceUnavailable` | 503 | A dependency is unavailable. Try again after the time in the Retry-After header. |
 */
export type ErrorCode =
  | 'OK'
  | 'InvalidParameter'
  | 'BadRequest'
  | 'InvalidContentType'
  | 'ResourceNotFound'
  | 'NoLicense'
  | 'ReferenceExist'
  | 'Unauthorized'
  | 'BalanceNotEnough'
  | 'AccessDenied'
  | 'RouteNotFound'
  | 'MethodNotAllowed'
  | 'UndonedOrderExist'
  | 'EntityTooLarge'
  | 'RequestLocked'
  | 'RequestVerifyRequired'
  | 'DangerousOperation'
  | 'RequestTooFrequently'
  | 'InternalError'
  | 'ServiceUnavailable';
export type IngestRecord =
  | MemberRecord
  | HostRecord
  | HostStatusRecord
  | RumResourceRecord
  | RumUsageRecord
  | WorkItemRecord
  | IncidentRecord
  | AlertRecord
  | RetiredHostRecord;
/**
 * Overall collection status of a host.
 * - `active`: a fresh snapshot without degradation
 * - `degraded`: collecting, but impaired: `reason_codes` say how
 * - `stale`: no new snapshot within 2 times the report interval
 * - `initializing`: the agent reported the capability, and the first snapshot is not ready
 * - `disabled`: collection is disabled on the host
 * - `unsupported`: the agent or kernel does not support it
 * - `no_data`: no report at all
 */
export type FleetStatus = 'active' | 'degraded' | 'stale' | 'initializing' | 'disabled' | 'unsupported' | 'no_data';
export type CaptureMode = 'ebpf' | 'polling' | 'unknown';
/**
 * `fresh`: the latest snapshot was received within 2 times the report interval; `stale`: earlier; `unknown`: never
 */
export type FreshnessStatus = 'fresh' | 'stale' | 'unknown';

/**
 * A record of kind member
 */
export interface MemberRecord {
  kind: 'member';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  member_id: number | bigint;
  name: string;
}
/**
 * A record of kind host
 */
export interface HostRecord {
  kind: 'host';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  host_id: string;
  agent_version: string;
  edge_cluster: string;
  enabled: boolean;
  capability_status?: string;
  capture_mode?: 'ebpf' | 'polling';
  /**
   * from 1 to 604800000
   */
  report_interval_ms?: number | bigint;
  snapshot_ready: boolean;
  /**
   * @maxItems 128
   */
  reason_codes?: string[];
  retired?: boolean;
}
/**
 * A record of kind host_status
 */
export interface HostStatusRecord {
  kind: 'host_status';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  host_id: string;
  /**
   * from 1000000000000 to 9999999999999
   */
  received_at_ms?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  observed_at_ms?: number | bigint;
  node_count?: number | bigint;
  edge_count?: number | bigint;
  authoritative?: boolean;
  graph_available?: boolean;
  snapshot_truncated?: boolean;
  snapshot_degraded?: boolean;
  /**
   * from 1000000000000 to 9999999999999
   */
  health_at_ms?: number | bigint;
  /**
   * @maxItems 128
   */
  reason_codes?: string[];
}
/**
 * A record of kind rum_resource
 */
export interface RumResourceRecord {
  kind: 'rum_resource';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  /**
   * Currently always rum
   */
  product: string;
  /**
   * Plan version, such as free or professional
   */
  version: string;
  /**
   * Whether the plan is in force, such as enabled or disabled
   */
  status: string;
  /**
   * The offering that was ordered
   */
  offering_id: number | bigint;
  /**
   * The order
   */
  order_id: string;
  /**
   * Identifier of the record
   */
  resource_id: string;
  /**
   * Name of the record, for people
   */
  resource_name: string;
  /**
   * from 0 to 99999999999
   */
  created_at: number | bigint;
  /**
   * from 0 to 99999999999
   */
  updated_at: number | bigint;
  /**
   * from 0 to 99999999999
   */
  window_start_time: number | bigint;
  /**
   * from 0 to 99999999999
   */
  window_end_time: number | bigint;
  /**
   * Days that actions are kept
   */
  'action.days': number | bigint;
  /**
   * Days that errors are kept
   */
  'error.days': number | bigint;
  /**
   * Days that long tasks are kept
   */
  'long_task.days': number | bigint;
  /**
   * Days that resources are kept
   */
  'resource.days': number | bigint;
  /**
   * Days that sessions are kept
   */
  'session.days': number | bigint;
  /**
   * Days that views are kept
   */
  'view.days': number | bigint;
  /**
   * Free quota of investigated sessions in the window
   */
  'session_investigate.free_cnt': number | bigint;
  /**
   * Free quota of measured sessions in the window
   */
  'session_measure.free_cnt': number | bigint;
  /**
   * Free quota of replayed sessions in the window
   */
  'session_replay.free_cnt': number | bigint;
  deleted?: boolean;
}
/**
 * A record of kind rum_usage
 */
export interface RumUsageRecord {
  kind: 'rum_usage';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  /**
   * A session quota of the window is used up; false if nothing was used yet
   */
  session_limit_reached: boolean;
  /**
   * Investigated sessions used in the window so far; 0 when none
   */
  'session_investigate.used_cnt': number | bigint;
  /**
   * Measured sessions used in the window so far; 0 when none
   */
  'session_measure.used_cnt': number | bigint;
  /**
   * Replayed sessions used in the window so far; 0 when none
   */
  'session_replay.used_cnt': number | bigint;
}
/**
 * A record of kind work_item
 */
export interface WorkItemRecord {
  kind: 'work_item';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  work_item_id: string;
  version: number | bigint;
  title: string;
  /**
   * from 1000000000000 to 9999999999999
   */
  deleted_at_ms?: number | bigint;
  deleted_by?: string;
  [k: string]: unknown;
}
/**
 * A record of kind incident
 */
export interface IncidentRecord {
  kind: 'incident';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  incident_id: string;
  title: string;
  owner_id?: number | bigint;
}
/**
 * A record of kind alert
 */
export interface AlertRecord {
  kind: 'alert';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  alert_id?: string;
  alert_key?: string;
  title?: string;
  description?: string;
  labels?: {
    [k: string]: string;
  };
  annotations?: {
    [k: string]: string;
  };
  source_url?: string;
  alert_status?: 'Critical' | 'Warning' | 'Info' | 'Ok';
  /**
   * from 1000000000000 to 9999999999999
   */
  started_at_ms?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  ended_at_ms?: number | bigint;
  /**
   * from 60 to 2592000
   */
  silent_after_s?: number;
  incident_id?: string;
  /**
   * from 1000000000000 to 9999999999999
   */
  incident_at_ms?: number | bigint;
}
/**
 * A record of kind host
 */
export interface RetiredHostRecord {
  kind: 'host';
  account_id?: number | bigint;
  /**
   * from 1000000000000 to 9999999999999
   */
  at_ms?: number | bigint;
  host_id: string;
  agent_version?: string;
  edge_cluster?: string;
  enabled?: boolean;
  capability_status?: string;
  capture_mode?: 'ebpf' | 'polling';
  /**
   * from 1 to 604800000
   */
  report_interval_ms?: number | bigint;
  snapshot_ready?: boolean;
  /**
   * @maxItems 128
   */
  reason_codes?: string[];
  retired: boolean;
}
export interface GetRumResourceRequest {
  /**
   * Bypass the short-lived cache and read the record (plan, quotas, status) from its source; does not refresh the usage counts, which are read on every call
   */
  no_cache?: boolean;
}
/**
 * The account's RUM plan and quotas, which may be as old as the header Age says, and the usage of the current window
 */
export interface RumResource {
  /**
   * The account that the record belongs to
   */
  account_id: number | bigint;
  /**
   * Currently always rum
   */
  product: string;
  /**
   * Plan version, such as free or professional
   */
  version: string;
  /**
   * Whether the plan is in force, such as enabled or disabled
   */
  status: string;
  /**
   * The offering that was ordered
   */
  offering_id: number | bigint;
  /**
   * The order
   */
  order_id: string;
  /**
   * Identifier of the record
   */
  resource_id: string;
  /**
   * Name of the record, for people
   */
  resource_name: string;
  /**
   * Unix time in seconds
   */
  created_at: number;
  /**
   * Unix time in seconds
   */
  updated_at: number;
  /**
   * Start of the plan window: Unix time in seconds
   */
  window_start_time: number;
  /**
   * End of the plan window: Unix time in seconds
   */
  window_end_time: number;
  /**
   * Days that actions are kept
   */
  'action.days': number;
  /**
   * Days that errors are kept
   */
  'error.days': number;
  /**
   * Days that long tasks are kept
   */
  'long_task.days': number;
  /**
   * Days that resources are kept
   */
  'resource.days': number;
  /**
   * Days that sessions are kept
   */
  'session.days': number;
  /**
   * Days that views are kept
   */
  'view.days': number;
  /**
   * Free quota of investigated sessions in the window
   */
  'session_investigate.free_cnt': number;
  /**
   * Free quota of measured sessions in the window
   */
  'session_measure.free_cnt': number;
  /**
   * Free quota of replayed sessions in the window
   */
  'session_replay.free_cnt': number;
  /**
   * A session quota of the window is used up; false if nothing was used yet
   */
  session_limit_reached: boolean;
  /**
   * Investigated sessions used in the window so far; 0 when none
   */
  'session_investigate.used_cnt': number;
  /**
   * Measured sessions used in the window so far; 0 when none
   */
  'session_measure.used_cnt': number;
  /**
   * Replayed sessions used in the window so far; 0 when none
   */
  'session_replay.used_cnt': number;
}
export interface DeleteWorkItemRequest {
  /**
   * The work item to delete: 1 to 128 characters
   */
  work_item_id: string;
  /**
   * The version that you last read, which must be the stored one; from 1 to 9223372036854775806
   */
  version: number | bigint;
}
export interface SendRecordsRequest {
  /**
   * 1 to 1000 records
   *
   * @minItems 1
   * @maxItems 1000
   */
  records: IngestRecord[];
}
export interface RefusedItem {
  /**
   * Its place among the items of the call, from 0
   */
  index: number;
  /**
   * What it must be, in the language of the Accept-Language header
   */
  reason: string;
}
export interface FeedResult {
  /**
   * How many items the feed has taken
   */
  accepted: number;
  /**
   * The first ten of the items that were refused; absent if there are none
   */
  refused?: RefusedItem[];
  /**
   * How many items were refused; absent if there are none
   */
  refused_count?: number;
}
/**
 * An alert as Alertmanager and Grafana send it. What is not listed is ignored
 */
export interface NotifiedAlert {
  /**
   * `firing` or `resolved`, in any letter case. Absent or empty: `firing`
   */
  status?: string;
  /**
   * Labels. `severity` tells the severity. One that is null is as if absent
   */
  labels?: {
    [k: string]: string | number | boolean | null;
  };
  /**
   * `summary` gives the title, `description` the description, the others the annotations. One that is null is as if absent
   */
  annotations?: {
    [k: string]: string | number | boolean | null;
  };
  /**
   * When it started
   */
  startsAt: string;
  /**
   * When it ended, if it is resolved
   */
  endsAt?: string;
  /**
   * The http or https URL where the sender shows the alert
   */
  generatorURL?: string;
  /**
   * Identifies the alert. Absent or empty: its labels do
   */
  fingerprint?: string;
}
export interface SendNotificationRequest {
  /**
   * The alerts of the notification
   *
   * @maxItems 25000
   */
  alerts: NotifiedAlert[];
}
export interface AlertListRequest {
  /**
   * Maximum number of alerts in the page; from 1 to 100; default 20
   */
  limit?: number;
  /**
   * The search_after_ctx of the previous page, unchanged, with the same filters; absent or empty for the first page. Never construct one
   */
  search_after_ctx?: string;
  /**
   * true: the earliest start first
   */
  asc?: boolean;
  /**
   * true: only open alerts. false: only others, with times, alert_ids or alert_keys. Absent: without these open ones, else both
   */
  is_active?: boolean;
  /**
   * Started then or later: Unix time in seconds. Requires end_time; from 0 to 99999999999
   */
  start_time?: number | bigint;
  /**
   * Started before then: Unix time in seconds, after start_time, by at most 31 days. Not with alert_ids or alert_keys; from 0 to 99999999999
   */
  end_time?: number | bigint;
  /**
   * Alerts of these severities, with commas between them: Critical, Warning, Info. Absent or empty: all
   */
  alert_severity?: string;
  /**
   * Alerts with any of these ids
   *
   * @maxItems 100
   */
  alert_ids?: string[];
  /**
   * The last alert of each of these keys; with alert_ids at most 100 together
   *
   * @maxItems 100
   */
  alert_keys?: string[];
}
/**
 * The incident that the alert is in; absent if none
 */
export interface AlertIncident {
  /**
   * Identifier of the incident
   */
  incident_id: string;
  /**
   * Its title; absent if there is no such incident
   */
  title?: string;
}
export interface AlertItem {
  /**
   * The account that the alert belongs to
   */
  account_id: number | bigint;
  /**
   * Identifier of the alert, for merges
   */
  alert_id: string;
  /**
   * What the sender watches; absent if only records with alert_id have written the alert
   */
  alert_key?: string;
  /**
   * Description
   */
  description?: string;
  /**
   * Labels, by their names
   */
  labels: {
    [k: string]: string;
  };
  /**
   * What people read, such as `runbook_url`, by its name
   */
  annotations?: {
    [k: string]: string;
  };
  /**
   * Where the sender shows the alert: an http or https URL
   */
  source_url?: string;
  /**
   * The severity while the alert is open, Ok once it has ended; absent without alert_key
   */
  alert_status?: 'Critical' | 'Warning' | 'Info' | 'Ok';
  /**
   * When it started: Unix time in seconds
   */
  start_time?: number;
  /**
   * When it ended, 0 while it is open: Unix time in seconds
   */
  end_time?: number;
  incident?: AlertIncident;
  /**
   * The latest status that was not Ok
   */
  alert_severity?: 'Critical' | 'Warning' | 'Info';
  /**
   * When the service got its first record: Unix time in seconds
   */
  created_at?: number;
  /**
   * Time of its latest record, or of its end by silence: Unix time in seconds
   */
  last_time?: number;
  /**
   * When the service got its latest record, or time of its end by silence: Unix time in seconds
   */
  updated_at?: number;
  /**
   * Title
   */
  title: string;
}
export interface AlertList {
  /**
   * The alerts of the page
   */
  items: AlertItem[];
  /**
   * Whether alerts may follow
   */
  has_next_page: boolean;
  /**
   * For the next page; absent if none follows
   */
  search_after_ctx?: string;
}
export interface AlertInfoRequest {
  /**
   * Identifier of the alert
   */
  alert_id: string;
}
export interface ListIncidentsRequest {
  /**
   * Maximum number of incidents in the page; from 1 to 100; default 20
   */
  limit?: number;
  /**
   * The search_after_ctx of the previous page, unchanged, with the same filters; absent or empty for the first page. Never construct one
   */
  search_after_ctx?: string;
  /**
   * true: the lowest id first
   */
  asc?: boolean;
  /**
   * Incidents with any of these ids
   *
   * @maxItems 100
   */
  incident_ids?: string[];
  /**
   * Only those whose title contains this, in either letter case
   */
  query?: string;
  /**
   * Created then or later: Unix time in seconds. Requires end_time; from 0 to 99999999999
   */
  start_time?: number | bigint;
  /**
   * Created before then: Unix time in seconds, after start_time; from 0 to 99999999999
   */
  end_time?: number | bigint;
}
/**
 * Absent if there is no such member
 */
export interface IncidentOwner {
  /**
   * Identifier, for `owner_id` of merges
   */
  member_id: number | bigint;
  /**
   * Name
   */
  member_name: string;
}
export interface IncidentInfo {
  /**
   * The account that the incident belongs to
   */
  account_id: number | bigint;
  /**
   * Identifier, for merges
   */
  incident_id: string;
  /**
   * Member id of the owner; 0: none
   */
  owner_id: number | bigint;
  /**
   * Time of its first record: Unix time in seconds
   */
  created_at?: number;
  owner?: IncidentOwner;
  /**
   * When its title or owner was last changed: Unix time in seconds
   */
  updated_at?: number;
  /**
   * Title
   */
  title: string;
}
export interface IncidentList {
  /**
   * The incidents of the page
   */
  items: IncidentInfo[];
  /**
   * Whether incidents may follow
   */
  has_next_page: boolean;
  /**
   * For the next page; absent if none follows
   */
  search_after_ctx?: string;
}
export interface MemberListRequest {
  /**
   * Maximum number of members in the page; from 1 to 100; default 20
   */
  limit?: number;
  /**
   * The search_after_ctx of the previous page, unchanged, with the same filters; absent or empty for the first page. Never construct one
   */
  search_after_ctx?: string;
  /**
   * Only those whose name contains this, in either letter case
   */
  query?: string;
}
export interface MemberItem {
  /**
   * The account that the member belongs to
   */
  account_id: number | bigint;
  /**
   * Identifier, for `owner_id` of merges
   */
  member_id: number | bigint;
  /**
   * Name
   */
  member_name: string;
  /**
   * Time of its last record: Unix time in seconds
   */
  updated_at?: number;
}
export interface MemberList {
  /**
   * The members of the page
   */
  items: MemberItem[];
  /**
   * Whether members may follow
   */
  has_next_page: boolean;
  /**
   * For the next page; absent if none follows
   */
  search_after_ctx?: string;
}
export interface MergeAlertsRequest {
  /**
   * Alerts of the account, obtained from POST /alert/list: ObjectIDs in either letter case; repeated ids count once
   *
   * @minItems 1
   */
  alert_ids: string[];
  /**
   * The incident that takes the alerts, obtained from POST /incident/list: an ObjectID in either letter case
   */
  incident_id: string;
  /**
   * Recorded in the history with the merge: at most 1024 characters; empty counts as absent
   */
  comment?: string;
  /**
   * Member id of the new owner of the incident, obtained from POST /member/list
   */
  owner_id?: number | bigint;
  /**
   * New title of the incident: at most 512 characters; empty counts as absent
   */
  title?: string;
}
export interface BrowseFleetRequest {
  /**
   * The next_cursor of the previous page, unchanged; absent or empty for the first page. Never construct one
   */
  cursor?: string;
  /**
   * Maximum number of matching hosts in the page; from 1 to 100; default 50
   */
  limit?: number;
  /**
   * Maximum number of hosts examined to fill the page: at least limit, at most 2000; from 1 to 2000; default 1000
   */
  scan_limit?: number;
  /**
   * Hosts in any of these statuses; all when absent or empty
   *
   * @maxItems 20
   */
  statuses?: FleetStatus[];
  /**
   * Hosts with any of these agent versions, compared exactly; all when absent or empty
   *
   * @maxItems 20
   */
  agent_versions?: string[];
  /**
   * Hosts in any of these edge clusters, compared exactly; all when absent or empty
   *
   * @maxItems 20
   */
  edge_clusters?: string[];
  /**
   * Hosts with any of these capture modes; unknown matches hosts that have not reported one
   *
   * @maxItems 3
   */
  capture_modes?: CaptureMode[];
}
/**
 * ServiceMap capability and current collection status of a host, joined from inventory and live state. A field without a value is absent.
 */
export interface ServiceMapCapability {
  /**
   * Collection is enabled on the host
   */
  enabled: boolean;
  status: FleetStatus;
  /**
   * As the agent reports it, such as running, disabled, starting, failed, unsupported
   */
  capability_status?: string;
  /**
   * How the agent captures, such as ebpf or polling; absent until it is reported
   */
  capture_mode?: string;
  /**
   * Configured reporting interval in milliseconds; 60000 is assumed when absent
   */
  report_interval_ms?: number | bigint;
  /**
   * The agent has produced at least one full snapshot
   */
  snapshot_ready: boolean;
  /**
   * The host has an authoritative current graph, according to its report
   */
  authoritative: boolean;
  /**
   * A current graph can be fetched for the host right now
   */
  graph_available: boolean;
  freshness_status?: FreshnessStatus;
  /**
   * Age of the host's graph in milliseconds at generated_at_ms, never below 0; absent without a snapshot
   */
  max_age_ms?: number;
  /**
   * When the agent observed the graph: Unix time in milliseconds
   */
  observed_at_ms?: number;
  /**
   * When the service received the graph: Unix time in milliseconds
   */
  received_at_ms?: number;
  /**
   * Nodes in the current graph; 0 without one
   */
  node_count: number;
  /**
   * Edges in the current graph; 0 without one
   */
  edge_count: number;
  /**
   * Reasons for the status, absent if there are none. Also `value_cut`: a text or list of the host is shortened, as it is too large
   */
  reason_codes?: string[];
  /**
   * Present if the live status could not be read; the other fields are then based on the inventory
   */
  error_code?: 'status_unavailable';
}
/**
 * A host of the account with the state of its network-topology collection
 */
export interface ServiceMapFleetHost {
  /**
   * Stable identifier of the host
   */
  host_id: string;
  /**
   * Agent version that the host reports
   */
  agent_version: string;
  /**
   * Name of the edge cluster that the host belongs to
   */
  edge_cluster: string;
  servicemap: ServiceMapCapability;
}
/**
 * Number of items by status, of this page only: always all seven keys, which add up to `returned`
 */
export interface FleetStates {
  active: number;
  degraded: number;
  stale: number;
  initializing: number;
  disabled: number;
  unsupported: number;
  no_data: number;
}
/**
 * What was examined for this page; not a count of the account's hosts
 */
export interface FleetCoverage {
  /**
   * Hosts examined, at most scan_limit
   */
  scanned: number;
  /**
   * Of those, hosts that passed all filters
   */
  matched: number;
  /**
   * Of those, hosts in items, at most limit
   */
  returned: number;
  /**
   * Examined hosts, matching or not, whose live status could not be read
   */
  failed: number;
  states: FleetStates;
}
/**
 * One page of hosts in ascending order of host_id
 */
export interface FleetPage {
  /**
   * The matching hosts of the page; may be empty although more pages follow
   */
  items: ServiceMapFleetHost[];
  coverage: FleetCoverage;
  /**
   * True if `truncated` is true, or the live status of an examined host could not be read, even of one that did not match
   */
  partial: boolean;
  /**
   * More hosts are left, and the page ended early: after `scan_limit` hosts, or because the hosts are very large. Continue with `next_cursor`
   */
  truncated: boolean;
  /**
   * Present when truncated is true. scan_limit_reached, or page_size_reached: the hosts are so large that reading more would take too long
   */
  truncation_reasons?: string[];
  /**
   * Send it back as cursor for the next page; absent when no host is left
   */
  next_cursor?: string;
  /**
   * When the page was generated: Unix time in milliseconds
   */
  generated_at_ms: number;
}

/** The path of each operation: the client has a method for each. */
export const PATHS = {
  browseFleet: '/monit/servicemap/fleet',
  getRumResource: '/rum/resource/info',
  deleteWorkItem: '/incident/work-item/delete',
  sendRecords: '/feed/records',
  sendNotification: '/feed/alertmanager',
  listAlerts: '/alert/list',
  getAlert: '/alert/info',
  listIncidents: '/incident/list',
  listMembers: '/member/list',
  mergeAlerts: '/alert/merge',
} as const;

/** The operations without an idempotency key. */
export interface PlainMethods {
  /** List the hosts of the account with the state of their network-topology collection. */
  browseFleet(request?: BrowseFleetRequest, options?: CallOptions): Promise<FleetPage>;
  /** Read the account's RUM plan, quotas and usage. */
  getRumResource(request?: GetRumResourceRequest, options?: CallOptions): Promise<RumResource>;
  /** Soft-delete a work item. */
  deleteWorkItem(request: DeleteWorkItemRequest, options?: CallOptions): Promise<void>;
  /** Send records to the feed. */
  sendRecords(request: SendRecordsRequest, options?: CallOptions): Promise<FeedResult>;
  /** Send a notification of Prometheus Alertmanager or Grafana to the feed. */
  sendNotification(request: SendNotificationRequest, options?: CallOptions): Promise<FeedResult>;
  /** List alerts, open or by their start. */
  listAlerts(request?: AlertListRequest, options?: CallOptions): Promise<AlertList>;
  /** Read an alert by its id. */
  getAlert(request: AlertInfoRequest, options?: CallOptions): Promise<AlertItem>;
  /** List incidents, such as to merge alerts into one. */
  listIncidents(request?: ListIncidentsRequest, options?: CallOptions): Promise<IncidentList>;
  /** List members, such as to name the owner of an incident. */
  listMembers(request?: MemberListRequest, options?: CallOptions): Promise<MemberList>;
}

/** The operations as commands. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  "browse-fleet": {"method":"browseFleet","summary":"List the hosts of the account with the state of their network-topology collection","isIdempotent":false},
  "get-rum-resource": {"method":"getRumResource","summary":"Read the account's RUM plan, quotas and usage","isIdempotent":false},
  "delete-work-item": {"method":"deleteWorkItem","summary":"Soft-delete a work item","isIdempotent":false},
  "send-records": {"method":"sendRecords","summary":"Send records to the feed","isIdempotent":false},
  "send-notification": {"method":"sendNotification","summary":"Send a notification of Prometheus Alertmanager or Grafana to the feed","isIdempotent":false},
  "list-alerts": {"method":"listAlerts","summary":"List alerts, open or by their start","isIdempotent":false},
  "get-alert": {"method":"getAlert","summary":"Read an alert by its id","isIdempotent":false},
  "list-incidents": {"method":"listIncidents","summary":"List incidents, such as to merge alerts into one","isIdempotent":false},
  "list-members": {"method":"listMembers","summary":"List members, such as to name the owner of an incident","isIdempotent":false},
  "merge-alerts": {"method":"mergeAlerts","summary":"Merge alerts into an incident","isIdempotent":true},
};

/** Integer fields of answers that the client gives as numbers; each is a JSON array of names. */
export const NUMBER_PATHS: ReadonlySet<string> = new Set([
  '["created_at"]',
  '["updated_at"]',
  '["window_start_time"]',
  '["window_end_time"]',
  '["action.days"]',
  '["error.days"]',
  '["long_task.days"]',
  '["resource.days"]',
  '["session.days"]',
  '["view.days"]',
  '["session_investigate.free_cnt"]',
  '["session_measure.free_cnt"]',
  '["session_replay.free_cnt"]',
  '["session_investigate.used_cnt"]',
  '["session_measure.used_cnt"]',
  '["session_replay.used_cnt"]',
  '["accepted"]',
  '["refused","index"]',
  '["refused_count"]',
  '["items","start_time"]',
  '["items","end_time"]',
  '["items","created_at"]',
  '["items","last_time"]',
  '["items","updated_at"]',
  '["start_time"]',
  '["end_time"]',
  '["last_time"]',
  '["items","servicemap","max_age_ms"]',
  '["items","servicemap","observed_at_ms"]',
  '["items","servicemap","received_at_ms"]',
  '["items","servicemap","node_count"]',
  '["items","servicemap","edge_count"]',
  '["coverage","scanned"]',
  '["coverage","matched"]',
  '["coverage","returned"]',
  '["coverage","failed"]',
  '["coverage","states","active"]',
  '["coverage","states","degraded"]',
  '["coverage","states","stale"]',
  '["coverage","states","initializing"]',
  '["coverage","states","disabled"]',
  '["coverage","states","unsupported"]',
  '["coverage","states","no_data"]',
  '["generated_at_ms"]',
]);
