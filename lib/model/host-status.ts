/** What a host last reported of its graph and its health. A report may have only some of the fields. */
import { flag, hostId, natural } from '../shared/json.ts';
import { AT_MS, type Field, type RowOf, reasonCodes } from './fields.ts';

const groups = {
  /** Any report writes it. */
  report: { order: 'row_order' },
  snapshot: { order: 'snapshot_order' },
  health: { order: 'health_order' },
} as const;

const fields = {
  host_id: { stored: 'key', required: true, schema: hostId },
  received_at_ms: { stored: 'snapshot', schema: AT_MS, read: natural },
  observed_at_ms: { stored: 'snapshot', schema: AT_MS, read: natural },
  node_count: { stored: 'snapshot', default: 0, schema: natural },
  edge_count: { stored: 'snapshot', default: 0, schema: natural },
  authoritative: { stored: 'snapshot', default: false, schema: flag },
  graph_available: { stored: 'snapshot', default: false, schema: flag },
  snapshot_truncated: { stored: 'snapshot', default: false, schema: flag },
  snapshot_degraded: { stored: 'snapshot', default: false, schema: flag },
  health_at_ms: { stored: 'health', schema: AT_MS, read: natural },
  reason_codes: { stored: 'report', schema: reasonCodes },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const hostStatus = { groups, fields } as const;
export type HostStatusRow = { host_id: string } & RowOf<typeof fields>;
