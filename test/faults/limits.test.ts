import { afterAll, describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { readMergeOrder } from '../../lib/operations/merge-alerts/merge-order.ts';
import { finishMerge } from '../../lib/operations/merge-alerts/move.ts';
import { startLimitsProxy } from '../../packages/bench/limits/limits-proxy.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { expectMerged, newAccount, objectId } from '../support/incidents.ts';
import { connectThrough, handlersOver, invokeAlone, newTable, putAll, testDeps } from '../support/service.ts';

/** A twentieth of AWS's limits, so that they, and not the machine, decide how fast it goes. */
const share = 1 / 20;
const alerts = process.env.FAULTS === undefined ? 300 : 2_000;
const MAX_ATTEMPTS = 11;

const table = await newTable();
const proxy = await startLimitsProxy(dynamodbEndpoint(), { writeUnits: 1_000 * share, readUnits: 3_000 * share });
afterAll(() => proxy.close());

describe(`a merge of ${alerts} alerts of 2 KB, with ${1_000 * share} write units a second for a partition key`, () => {
  it('is done in the end: throttling delays its moves, and each attempt goes on where the last one stopped', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const ids = Array.from({ length: alerts }, objectId);
    await putAll(
      table,
      ids.map((id) => ({ ...keys.alert(tenant.account, id), alert_id: id, title: 'x'.repeat(1_850) })),
    );
    const through = connectThrough(table, proxy);
    const { mergeAlerts } = handlersOver(testDeps(through));
    const call = () =>
      invokeAlone(
        mergeAlerts,
        tenant.event({ alert_ids: ids, incident_id: to }, { headers: { 'Idempotency-Key': 'one' } }),
      );
    const moved = async () => (await tenant.placements(ids)).filter((where) => where === to).length;
    let calls = 1;
    while ((await call()).status !== 200 && calls < MAX_ATTEMPTS) calls += 1;
    const progress: number[] = [];
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      progress.push(await moved());
      const { pending = [] } = await readMergeOrder(table, tenant.account);
      if (pending.length === 0) break;
      for (const place of pending) await finishMerge(through, tenant.account, place).catch(() => undefined);
    }
    const usages = [...proxy.usages().values()];
    expect(usages.reduce((sum, { throttled }) => sum + throttled, 0)).toBeGreaterThan(0);
    expect(progress.at(-1), `${calls} calls; moved after each attempt: ${progress}`).toBe(alerts);
    await expectMerged(tenant, to, ids);
    through.client.destroy();
  }, 300_000);
});
