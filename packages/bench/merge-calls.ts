/** Merges for benchmarks, by calls of the handler. */
import { randomBytes } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { forEach } from '../../lib/dynamodb/pool.ts';
import { mergeAlerts } from '../../lib/http/operations.ts';
import { createMergeAlertsHandler } from '../../lib/operations/merge-alerts/merge.ts';
import { chunksOf } from '../../lib/shared/chunks.ts';
import type { Deps } from '../../lib/shared/deps.ts';
import { writeBatch } from '../admin/data/write.ts';
import { eventOf } from './bench-service.ts';

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

/** @returns merges alerts, and gives the status of the answer */
export function createMerge(deps: Deps) {
  const merge = createMergeAlertsHandler({ ...deps, now: Date.now });
  return async (appKey: string, alert_ids: readonly string[], incident_id: string): Promise<number> => {
    const event = eventOf(mergeAlerts, appKey, { alert_ids, incident_id }) as unknown as APIGatewayProxyEvent;
    return (await merge(event, {} as Context)).statusCode;
  };
}
