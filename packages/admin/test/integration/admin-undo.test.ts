import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { MAX_DELETABLE_VERSION } from '../../../../lib/ingest/kinds.ts';
import { deleteWorkItem } from '../../../../lib/operations/delete-work-item/schema.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../../../test/limits-proxy/item-size.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { aroundCalls, dyingAfterCommit } from '../../../../test/support/faults.ts';
import { expectTrueFeeds, finishFeed, newAccount, objectId } from '../../../../test/support/incidents.ts';
import {
  callAlone,
  connectAgain,
  handlersOver,
  newTable,
  put,
  stored,
  testDeps,
} from '../../../../test/support/service.ts';
import { restoreWorkItem } from '../../incidents/restore-work-item.ts';
import { undoMerge } from '../../incidents/undo-merge.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const handlers = handlersOver(testDeps(table));
const admin = adminOf(table);

/** A client that loses every call after its first transaction. */
function dying() {
  const client = connectAgain(table);
  aroundCalls(client, dyingAfterCommit());
  return client;
}

/** An account with two incidents, in which alerts of the first were merged into the second. */
async function merged(count: number, through = table) {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(count, from);
  async function merge(alert_ids: string[], incident_id: string, client = table): Promise<number> {
    const { mergeAlerts } = handlersOver(testDeps(client));
    expectEnvelope(await tenant.merge(mergeAlerts, { alert_ids, incident_id }), 200);
    return (await tenant.feed(incident_id)).at(-1).sequence;
  }
  const sequence = await merge(alerts, to, through);
  return {
    ...{ tenant, account, from, to, alerts, sequence, merge },
    request: { account, incidentId: to, sequence, by: 'operator test', requestId: 'r' },
    undo: (entry = sequence, more = '') => admin(`merge undo ${to} ${entry} --account ${account}${more}`),
  };
}

describe('an undo', () => {
  it.each([3, 95, 150])('moves %i alerts back to where they came from, with an entry of its own', async (count) => {
    const { tenant, from, to, alerts, sequence, undo } = await merged(count);
    const { exitCode, out } = await undo();
    const [, entry, ...more] = await tenant.feed(to);
    expect([exitCode, out]).toEqual([0, `${count} of ${count} alerts moved back. Feed entry ${entry.sequence}.\n`]);
    const by = expect.stringMatching(/^operator /);
    expect(entry).toMatchObject({ kind: 'merge_undone', undone_sequence: sequence, by });
    expect([more, await tenant.feed(from), await tenant.pending()]).toEqual([[], [], []]);
    await expectTrueFeeds(tenant, [to], alerts, from);

    const already = `Entry ${sequence} was already undone by entry ${entry.sequence}.\n`;
    expect(await undo()).toMatchObject({ exitCode: 0, out: already });
    expect((await undo(sequence, ' --dry-run')).err).toContain(already);
    expect(await tenant.feed(to)).toHaveLength(2);
    for (const [impossible, message] of [
      [5, 'has no entry 5'],
      [entry.sequence, 'an undo cannot be undone'],
    ])
      expect(await undo(impossible)).toEqual({ exitCode: 1, out: '', err: expect.stringContaining(message) });
    const { account } = await newAccount(table);
    const elsewhere = await admin(`merge undo ${to} ${sequence} --account ${account}`);
    expect(elsewhere.err).toMatch(/^Cannot undo: .* has no entry/);
  });

  it.each([1, 150])(
    'leaves alerts that have moved since or whose origin is gone, and moves %i others',
    async (count) => {
      const { tenant, from, to, alerts: others, merge, undo } = await merged(count);
      const [elsewhere, alerts] = [await tenant.incident(), await tenant.alerts(4)];
      const [lost = ''] = await tenant.alerts(1, objectId());
      await merge(others, from);
      const sequence = await merge([...others, ...alerts, lost], to);
      const [away = '', thereAgain = '', confirmed = '', unassigned = ''] = alerts;
      await merge([away, thereAgain], elsewhere);
      await merge([thereAgain, confirmed], to);
      const result = (verb: string) =>
        `${count + 1} of ${count + 5} alerts ${verb} back; 3 have been moved since and stay; the former incidents of these are gone: ${lost}.`;
      expect((await undo(sequence, ' --dry-run')).err).toContain(result('would be moved'));
      expect(await undo(sequence)).toMatchObject({ exitCode: 0, out: expect.stringContaining(result('moved')) });
      expect(await tenant.placements([away, thereAgain, confirmed, lost])).toEqual([elsewhere, to, to, to]);
      const back = [undefined, ...others.map(() => from)];
      expect(await tenant.placements([unassigned, ...others])).toEqual(back);
    },
  );

  it('that is interrupted after its commit is completed by the next one', async () => {
    const { tenant, from, to, alerts, request } = await merged(20);
    const limits = { transactionItems: 12 };
    await expect(undoMerge(testDeps(dying()), request, limits)).rejects.toThrow();
    const [, { sequence, pending }] = await tenant.feed(to);
    expect(pending).toBe(true);
    expect(await undoMerge(testDeps(table), request, limits)).toMatchObject({ moves: [], undoneBy: sequence });
    expect(await expectTrueFeeds(tenant, [to], alerts, from)).toHaveLength(2);
  });

  it.each([1, 2, 3, 4])(
    'of a pending merge moves all alerts back, even if another caller finishes the merge after call %i of the undo',
    async (nth) => {
      const { tenant, from, to, alerts, request } = await merged(150, dying());
      expect(await tenant.pending()).toHaveLength(1);
      const slower = connectAgain(table);
      aroundCalls(slower, async ({ number }, send) => {
        await send();
        if (number === nth) await finishFeed(table, await tenant.feed(to));
      });
      expect((await undoMerge(testDeps(slower), request)).moves).toHaveLength(alerts.length);
      expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
    },
  );
});

describe('work-item restore', () => {
  /** An account with a work item, deleted by a call, with further attributes. */
  async function deleted(more: object = {}) {
    const { account, appKey } = await newAccount(table);
    const key = keys.workItem(account, 'wi-1');
    await put(table, key, { work_item_id: 'wi-1', version: 4, title: 't' });
    const remove = () => callAlone(handlers, deleteWorkItem, { appKey, body: { work_item_id: 'wi-1', version: 4 } });
    expectEnvelope(await remove(), 200);
    const row = { ...(await stored(table, key)), ...more };
    await put(table, key, row);
    const restore = (args = 'wi-1') => admin(`work-item restore ${args} --account ${account}`);
    return { account, key, row, remove, restore };
  }

  it('undoes the deletion, with a new version, so that a repeated deletion does not apply', async () => {
    const { account, key, row, remove, restore } = await deleted();
    expect(await restore()).toMatchObject({ exitCode: 0, out: 'Work item wi-1 restored; it is at version 6.\n' });
    const undone_deletion = { version: 5, by: expect.any(String), at_ms: expect.any(Number) };
    const restored = { ...key, work_item_id: 'wi-1', version: 6, title: 't', undone_deletion };
    expect(await stored(table, key)).toEqual(restored);
    expectEnvelope(await remove(), 400, 'InvalidParameter');
    expect((await restore()).out).toMatch(/is not deleted; it is at version 6/);
    // As if the item had changed after it was read.
    await put(table, key, { ...row, version: 9 });
    expect(await restoreWorkItem(table, account, row)).toBe(false);
    expect(await stored(table, key)).toEqual({ ...row, version: 9 });
  });

  it.each([
    ['an item at the highest version', { version: MAX_DELETABLE_VERSION }, 'wi-1', /is at the highest version/],
    ['so in a dry run', { version: MAX_DELETABLE_VERSION }, 'wi-1 --dry-run', /is at the highest version/],
    ['an unknown item', {}, 'wi-2', /^Account \d+ has no work item wi-2\.\n$/],
  ])('refuses %s, and changes nothing', async (_what, more, args, err) => {
    const { key, row, restore } = await deleted(more);
    expect(await restore(args)).toEqual({ exitCode: 1, out: '', err: expect.stringMatching(err) });
    expect(await stored(table, key)).toEqual(row);
  });
});

it('a command whose write does not fit into a row that another system filled says so, and changes nothing', async () => {
  /** Fills a row up to its maximum size, less a few bytes. */
  const filler = (row: object) => 'x'.repeat(MAX_ITEM_BYTES - itemBytes(marshall(row)) - 5);
  const { account } = await newAccount(table);
  const [itemKey, accountKey] = [keys.workItem(account, 'wi-1'), keys.account(account)];
  const item = { ...itemKey, work_item_id: 'wi-1', version: 4, deleted_at_ms: 1, deleted_by: 'k', title: '' };
  const row = { ...(await stored(table, accountKey)), permissions: [''] };
  for (const [command, key, full] of [
    ['work-item restore wi-1', itemKey, { ...item, title: filler(item) }],
    ['app-key issue', accountKey, { ...row, permissions: [filler(row)] }],
  ] as const) {
    await put(table, key, full);
    const { exitCode, err } = await admin(`${command} --account ${account}`);
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/^(?!.*Exception).*400 KB/s)]);
    expect(await stored(table, key)).toEqual(full);
  }
});
