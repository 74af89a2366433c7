/** Alerts for merges. */
import { randomBytes } from 'node:crypto';
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { forEach } from '../../lib/dynamodb/pool.ts';
import { chunksOf } from '../../lib/shared/chunks.ts';
import { writeBatch } from '../admin/data/write.ts';

const MAX_BATCH = 25;

export const objectIds = (count: number) => Array.from({ length: count }, () => randomBytes(12).toString('hex'));

/** Creates alerts, and an incident to merge them into. */
export async function createAlerts(table: Table, account: number, count: number) {
  const ids = objectIds(count);
  const [incident = ''] = objectIds(1);
  const alerts = ids.map((id) => ({ ...keys.alert(account, id), alert_id: id, title: 'p99 above threshold' }));
  await forEach(chunksOf(alerts, MAX_BATCH), (batch) => writeBatch(table, batch));
  await writeBatch(table, [{ ...keys.incident(account, incident), incident_id: incident, title: 'Checkout is down' }]);
  return { ids, incident };
}
