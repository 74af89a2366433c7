/** What the inventory knows of a host. */
import { flag, hostId, natural, text } from '../shared/json.ts';
import { type Field, type RowOf, reasonCodes } from './fields.ts';

/** A week. */
const MAX_INTERVAL_MS = 604_800_000;

const groups = { row: { order: 'row_order' } } as const;

const fields = {
  host_id: { stored: 'key', required: true, schema: hostId },
  agent_version: { stored: 'row', required: true, schema: text },
  edge_cluster: { stored: 'row', required: true, schema: text },
  enabled: { stored: 'row', required: true, schema: flag },
  capability_status: { stored: 'row', schema: text },
  capture_mode: { stored: 'row', schema: { type: 'string', enum: ['ebpf', 'polling'] }, read: text },
  report_interval_ms: {
    stored: 'row',
    schema: { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_INTERVAL_MS },
    read: { ...natural, minimum: 1 },
  },
  snapshot_ready: { stored: 'row', required: true, schema: flag },
  reason_codes: { stored: 'row', schema: reasonCodes },
  /** A record with `true` removes the rows of the host. */
  retired: { stored: false, schema: flag },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const host = { groups, fields } as const;
export type HostRow = { host_id: string } & RowOf<typeof fields>;
