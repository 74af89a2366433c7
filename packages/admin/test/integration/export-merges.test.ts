/** An export reads row by row while merges go on, and contains each merge in full or not at all. */
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { aroundCalls, dyingAfterCommit } from '../../../../test/support/faults.ts';
import { type Account, newAccount } from '../../../../test/support/incidents.ts';
import { connectAgain, handlersOver, newTable, putAll, testDeps } from '../../../../test/support/service.ts';
import { exportData } from '../../data/export.ts';
import { undoMerge } from '../../incidents/undo-merge.ts';

const table = await newTable();
const handlers = handlersOver(testDeps(table));

/** An account with two incidents, and alerts of the first, spread over all partitions of alerts. */
async function filled(count: number) {
  const tenant = await newAccount(table);
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = Array.from({ length: count }, (_, index) => index.toString(16).padStart(24, 'a'));
  await putAll(
    table,
    alerts.map((id) => ({ ...keys.alert(tenant.account, id), alert_id: id, title: 'Alert', incident_id: from })),
  );
  return { tenant, from, to, alerts };
}

/** What an export contains: the incidents that hold alerts, and the titles of incidents. */
async function exported(source: Table, { account }: Account) {
  const lines = await Array.fromAsync(exportData(source, [account]));
  const incidents = new Set(lines.filter(({ kind }) => kind === 'alert').map(({ incident_id }) => incident_id));
  const titles = new Map(lines.map(({ kind, incident_id, title }) => [kind === 'incident' && incident_id, title]));
  return { incidents, titleOf: (id: string) => titles.get(id) };
}

/** A client that calls `interrupt` once, before it first reads a partition: by default the ninth of the 16 partitions of alerts. */
function interrupted(interrupt: () => Promise<unknown>, partition = '#ALERTS#8'): Table {
  const client = connectAgain(table);
  let done = false;
  aroundCalls(client, async ({ input }, send) => {
    if (!done && JSON.stringify(input).includes(partition)) {
      done = true;
      await interrupt();
    }
    await send();
  });
  return client;
}

/** Merges as a function does that crashes right after its commit. */
async function mergeCutShort(tenant: Account, body: { alert_ids: string[]; incident_id: string; title?: string }) {
  const dying = connectAgain(table);
  aroundCalls(dying, dyingAfterCommit());
  expectEnvelope(await tenant.merge(handlersOver(testDeps(dying)).mergeAlerts, body), 200);
}

describe('an export', () => {
  it('contains a pending merge in full', async () => {
    const { tenant, to, alerts } = await filled(150);
    await mergeCutShort(tenant, { alert_ids: alerts, incident_id: to });
    expect(await tenant.pending()).toHaveLength(1);
    expect((await exported(table, tenant)).incidents).toEqual(new Set([to]));
  });

  it.each([
    ['small', 16],
    ['large', 150],
  ])('contains a %s merge that is committed during the export in full, with its title', async (_size, count) => {
    const { tenant, to, alerts } = await filled(count);
    const body = { alert_ids: alerts, incident_id: to, title: 'Merged' };
    const client = interrupted(() => tenant.merge(handlers.mergeAlerts, body));
    const { incidents, titleOf } = await exported(client, tenant);
    expect(incidents).toEqual(new Set([to]));
    expect(titleOf(to)).toBe('Merged');
  });

  it('contains the moves of a large merge of which it has read only the title', async () => {
    const { tenant, to, alerts } = await filled(150);
    const body = { alert_ids: alerts, incident_id: to, title: 'Merged' };
    const client = interrupted(() => mergeCutShort(tenant, body), '#INCIDENTS');
    const { incidents, titleOf } = await exported(client, tenant);
    expect(titleOf(to)).toBe('Merged');
    expect(incidents).toEqual(new Set([to]));
  });

  it('includes an undo that is committed during the export in full', async () => {
    const { tenant, from, to, alerts } = await filled(16);
    await tenant.merge(handlers.mergeAlerts, { alert_ids: alerts, incident_id: to });
    const [{ sequence }] = await tenant.feed(to);
    const request = { account: tenant.account, incidentId: to, sequence, by: 'operator test', requestId: 'r' };
    const client = interrupted(() => undoMerge(testDeps(table), request));
    expect((await exported(client, tenant)).incidents).toEqual(new Set([from]));
  });

  it('reads no feed if no merge has changed the alerts and incidents', async () => {
    const { tenant, from } = await filled(3);
    const client = interrupted(() => Promise.reject(new Error('a feed is read')), '#FEED');
    expect((await exported(client, tenant)).incidents).toEqual(new Set([from]));
  });
});
