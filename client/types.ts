// Generated from openapi.json by `npm run openapi`: do not edit.

export interface BrowseFleetRequest {
/**
 * The next_cursor of the previous page; absent or empty for the first page
 */
cursor?: string
/**
 * Most matching hosts in the page
 */
limit?: number
/**
 * Most hosts examined to fill the page, from limit to 2000; without limit at least 50, its default
 */
scan_limit?: number
/**
 * Hosts in any of these states
 * 
 * @maxItems 20
 */
statuses?: ("active" | "degraded" | "stale" | "initializing" | "disabled" | "unsupported" | "no_data")[]
/**
 * Exact agent versions
 * 
 * @maxItems 20
 */
agent_versions?: string[]
/**
 * Exact edge clusters
 * 
 * @maxItems 20
 */
edge_clusters?: string[]
/**
 * Capture modes; unknown matches hosts that have not reported one
 * 
 * @maxItems 3
 */
capture_modes?: ("ebpf" | "polling" | "unknown")[]
}

export interface BrowseFleetData {
items: {
host_id: string
agent_version: string
edge_cluster: string
servicemap: {
enabled: boolean
status: ("active" | "degraded" | "stale" | "initializing" | "disabled" | "unsupported" | "no_data")
capability_status?: string
capture_mode?: string
report_interval_ms?: number | bigint
snapshot_ready: boolean
authoritative: boolean
graph_available: boolean
freshness_status?: ("fresh" | "stale" | "unknown")
/**
 * Age of the host's graph in milliseconds
 */
max_age_ms?: number | bigint
/**
 * Unix time in milliseconds
 */
observed_at_ms?: number | bigint
/**
 * Unix time in milliseconds
 */
received_at_ms?: number | bigint
node_count: number | bigint
edge_count: number | bigint
/**
 * Why the status is what it is; value_cut: a text or list of the host was too large to show whole
 */
reason_codes?: string[]
error_code?: "status_unavailable"
}
}[]
coverage: {
scanned: number
matched: number
returned: number
failed: number
states: {
active: number
degraded: number
stale: number
initializing: number
disabled: number
unsupported: number
no_data: number
}
}
partial: boolean
truncated: boolean
/**
 * scan_limit_reached, or page_size_reached: the hosts are so large that reading more would take too long
 */
truncation_reasons?: string[]
next_cursor?: string
/**
 * Unix time in milliseconds
 */
generated_at_ms: number | bigint
}

export interface GetRumResourceRequest {
/**
 * Read the record (plan, quotas, status) from its source, past the short-lived cache
 */
no_cache?: boolean
}

export interface GetRumResourceData {
account_id: number | bigint
product: string
version: ("free" | "professional")
status: ("enabled" | "disabled")
offering_id: number | bigint
order_id: string
resource_id: string
resource_name: string
/**
 * Unix time in seconds
 */
created_at: number | bigint
/**
 * Unix time in seconds
 */
updated_at: number | bigint
/**
 * Unix time in seconds
 */
window_start_time: number | bigint
/**
 * Unix time in seconds
 */
window_end_time: number | bigint
"action.days": number | bigint
"error.days": number | bigint
"long_task.days": number | bigint
"resource.days": number | bigint
"session.days": number | bigint
"view.days": number | bigint
session_limit_reached: boolean
"session_investigate.free_cnt": number | bigint
"session_investigate.used_cnt": number | bigint
"session_measure.free_cnt": number | bigint
"session_measure.used_cnt": number | bigint
"session_replay.free_cnt": number | bigint
"session_replay.used_cnt": number | bigint
}

export interface DeleteWorkItemRequest {
/**
 * The work item to delete
 */
work_item_id: string
/**
 * Its stored version
 */
version: number | bigint
}

export interface DeleteWorkItemData {

}

export interface MergeAlertsRequest {
/**
 * Alerts of the account
 * 
 * @minItems 1
 */
alert_ids: [string, ...(string)[]]
/**
 * The incident that takes the alerts
 */
incident_id: string
/**
 * Recorded on the feed entry of the merge
 */
comment?: string
/**
 * New title of the incident
 */
title?: string
/**
 * Member id of the new owner of the incident
 */
owner_id?: number | bigint
}

export type MergeAlertsData = null
