/** What a repair makes of rows that have not arrived, an example of each; `test/faults/torn.test.ts` tries any. */
import { expect, it } from 'vitest';
import { writeRow } from '../../../../lib/ingest/write-records.ts';
import { type Key, keys, partitions } from '../../../../lib/table/keys.ts';
import { newWorld } from '../../../../test/integration/merge-alerts/merging.ts';
import { dyingAfterCommit, intercepted } from '../../../../test/support/faults.ts';
import { recordFrom } from '../../../../test/support/ingest.ts';
import { put, remove, stored, storedUnder } from '../../../../test/support/service.ts';
import { checkMergesOfTable } from '../../check/check.ts';
import { repairMerges } from '../../check/repair-table.ts';

const NOW = 1_800_000_000_000;

/** Incidents and alerts from the feed, these in the first incident. Times are milliseconds after NOW. */
async function newScene() {
  const world = await newWorld(3);
  const { table, alerts, tenant, start } = world;
  const { account } = tenant;
  const record = (fields: object, ms: number) =>
    writeRow(table, [recordFrom({ account_id: account, at_ms: NOW + ms, title: 'fed', ...fields }, NOW + ms)]);
  for (const incident_id of world.incidents) await record({ kind: 'incident', incident_id }, 0);
  for (const alert_id of alerts) await record({ kind: 'alert', alert_id, incident_id: start }, 0);
  await tenant.member(7);
  const lose = (key: Key) => remove(table, key);
  return {
    ...{ ...world, account, record, lose, head: keys.logHead(account) },
    /** A small merge of all alerts. */
    mergeAt: (ms: number, incident_id: string, change: object = {}) =>
      world.merge({ alert_ids: alerts, incident_id, ...change }, { now: () => NOW + ms, limits: {} }),
    /** The row of an entry is all that tells that it was committed. */
    loseEntry: (incidentId: string, ms: number) => lose(keys.historyEntry(account, incidentId, NOW + ms)),
    incidentOf: async (id: string) => stored(table, keys.incident(account, id)),
    repair: () => repairMerges(table, NOW + 60_000),
    async kindsLeft() {
      const findings = (await Array.fromAsync(checkMergesOfTable(table))).flat();
      return [...new Set(findings.map(({ kind }) => kind))].sort();
    },
  };
}

it.each(['its log', 'its pending mark', 'its alerts', 'its Idempotency-Key', 'no row'])(
  'a merge whose incident has not arrived stays, if %s names it, and waits for the record',
  async (named) => {
    const scene = await newScene();
    const { table, account, one, alerts, lose, head, repair, placements } = scene;
    const process = {
      now: () => NOW + 5,
      key: 'k',
      ...(named === 'its alerts' ? {} : { through: intercepted(table, dyingAfterCommit()) }),
    };
    await scene.merge({ alert_ids: alerts, incident_id: one, title: 'New' }, process);
    await lose(keys.incident(account, one));
    if (named !== 'its log') await lose(keys.logPointer(account, NOW + 5));
    if (named !== 'its pending mark') await lose(head);
    if (named !== 'its Idempotency-Key')
      for (const row of await storedUnder(table, partitions.idempotency(account))) await lose(row);
    await repair();
    expect(await placements()).toEqual(alerts.map(() => one));
    expect(await stored(table, head)).toMatchObject({ last: NOW + 5, entries: 1 });
    expect(await scene.kindsLeft()).toEqual(['alert_incident_missing', 'entry_incident_missing']);
    await scene.record({ kind: 'incident', incident_id: one }, 1);
    await repair();
    expect([(await scene.incidentOf(one)).title, await scene.kindsLeft()]).toEqual(['New', []]);
  },
);

it('an incident that arrives by a record of a later time keeps what that says', async () => {
  const scene = await newScene();
  await scene.mergeAt(5, scene.one, { title: 'New', owner_id: 7 });
  await scene.lose(keys.incident(scene.account, scene.one));
  await scene.record({ kind: 'incident', incident_id: scene.one }, 6);
  await scene.repair();
  const { title, owner_id } = await scene.incidentOf(scene.one);
  expect([title, owner_id, await scene.kindsLeft()]).toEqual(['fed', undefined, []]);
});

it('of merges that are lost, however many, no title, owner, place or origin stays', async () => {
  const scene = await newScene();
  const { one, two, three, start, alerts, table, account } = scene;
  await scene.mergeAt(5, one, { title: 'lost', owner_id: 7 });
  // What the feed says meanwhile is kept, although the merge prevails.
  await scene.record({ kind: 'incident', incident_id: one, title: 'said', owner_id: 7 }, 4);
  await scene.record({ kind: 'alert', alert_id: alerts[0], incident_id: three }, 6);
  await scene.mergeAt(7, one, { title: 'also lost' });
  await scene.mergeAt(8, two);
  await scene.loseEntry(one, 5);
  await scene.loseEntry(one, 7);
  await scene.repair();
  expect(await scene.incidentOf(one)).toMatchObject({ title: 'said', owner_id: 7 });
  expect(await scene.incidentOf(one)).not.toHaveProperty('title_by');
  const origins = [three, start, start];
  const [{ moves } = { moves: [] }] = await scene.entries();
  expect(moves).toEqual(alerts.map((alertId, index) => ({ alertId, from: origins[index], to: two })));
  await scene.undo({ incidentId: two, sequence: NOW + 8 }, { now: () => NOW + 9 });
  expect(await scene.placements()).toEqual(origins);
  expect(await scene.kindsLeft()).toEqual([]);

  await scene.loseEntry(two, 8);
  await scene.loseEntry(two, 9);
  await scene.repair();
  expect([await scene.placements(), await scene.kindsLeft()]).toEqual([origins, []]);
  for (const id of alerts) expect(await stored(table, keys.alert(account, id))).not.toHaveProperty('moved_sequence');
});

it('an undo whose merge is lost puts its alerts back to where they were before', async () => {
  const scene = await newScene();
  const { one, two, start, alerts } = scene;
  await scene.mergeAt(5, one);
  await scene.mergeAt(6, two);
  await scene.undo({ incidentId: two, sequence: NOW + 6 }, { now: () => NOW + 7 });
  await scene.loseEntry(one, 5);
  await scene.loseEntry(two, 6);
  await scene.repair();
  expect([await scene.placements(), await scene.kindsLeft()]).toEqual([alerts.map(() => start), []]);
});

it('the sequence of a lost entry is not used again, whichever row names it', async () => {
  const scene = await newScene();
  const { table, account, one, two, alerts, head } = scene;
  await scene.mergeAt(300_000, one, { title: 'lost' });
  await scene.loseEntry(one, 300_000);
  await scene.lose(head);
  await scene.lose(keys.logPointer(account, NOW + 300_000));
  for (const id of alerts.slice(1)) await scene.lose(keys.alert(account, id));
  await scene.repair();
  expect(await stored(table, head)).toMatchObject({ last: NOW + 300_000 });
  await scene.merge({ alert_ids: alerts.slice(0, 1), incident_id: two }, { now: () => NOW + 9, limits: {} });
  expect((await scene.entries()).map(({ entry }) => entry.sequence)).toEqual([NOW + 300_001]);
});

it('an alert whose key has ended opens by no earlier record, whichever row has the end that was told last', async () => {
  const scene = await newScene();
  const { table, account } = scene;
  const send = (alert_status: string, ms: number) => scene.record({ kind: 'alert', alert_key: 'k', alert_status }, ms);
  const key = keys.alertKey(account, 'k');
  await send('Info', 1);
  await send('Ok', 2);
  const before = await stored(table, key);
  await send('Ok', 9);
  await put(table, key, before);
  await scene.repair();
  await send('Info', 5);
  expect(await stored(table, key)).toMatchObject({ alert_id: before.alert_id, is_open: false });

  const alert = keys.alert(account, before.alert_id);
  await send('Info', 11);
  const open = await stored(table, keys.alert(account, (await stored(table, key)).alert_id));
  await send('Ok', 12);
  await put(table, open, open);
  await scene.repair();
  expect(await stored(table, open)).toMatchObject({ ended_at_ms: NOW + 12 });
  for (const each of [open, alert])
    expect(await stored(table, each)).toMatchObject({
      index_partition: expect.stringContaining('#ENDED#Info#'),
      ttl: expect.any(Number),
    });
  expect(await scene.kindsLeft()).toEqual([]);
});

it('after a repair the log has as many entries as it counts, so that no merge waits for the lost ones', async () => {
  const scene = await newScene();
  const { table, account, one, two, alerts, head } = scene;
  await scene.mergeAt(5, one);
  await scene.merge(
    { alert_ids: alerts, incident_id: two },
    { through: intercepted(table, dyingAfterCommit()), now: () => NOW + 6 },
  );
  await scene.loseEntry(one, 5);
  await scene.repair();
  expect(await stored(table, head)).toMatchObject({ last: NOW + 6, entries: 1 });
  let queries = 0;
  const through = intercepted(table, (reply, { name }) => {
    if (name === 'QueryCommand') queries += 1;
    return reply();
  });
  await scene.merge({ alert_ids: alerts, incident_id: one }, { through, now: () => NOW + 7 });
  expect([queries, await scene.kindsLeft()]).toEqual([1, []]);
  expect(await stored(table, keys.historyEntry(account, two, NOW + 6))).toHaveProperty('read_since.entries', 0);
});
