import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { MAX_DELETABLE_VERSION } from '../../../../lib/ingest/kinds.ts';
import { deleteWorkItem } from '../../../../lib/operations/delete-work-item/schema.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../../../test/limits-proxy/item-size.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { aroundCalls, dyingAfterCommit, onceBefore } from '../../../../test/support/faults.ts';
import { expectTrueFeeds, finishFeed, newAccount } from '../../../../test/support/incidents.ts';
import {
  callOperation,
  connectAgain,
  handlersOver,
  newTable,
  put,
  stored,
  testDeps,
} from '../../../../test/support/service.ts';
import { restoreWorkItem } from '../../incidents/restore-work-item.ts';
import { UndoError, undoMerge } from '../../incidents/undo-merge.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const handlers = handlersOver(testDeps(table));
const admin = adminOf(table);

/** Small transactions, and alerts that take several of them. */
const MERGE_LIMITS = { transactionItems: 12 };
const MANY = 20;

/** An account with two incidents, in which alerts of the first were merged into the second. */
async function merged(count: number) {
  const tenant = await newAccount(table);
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(count, from);
  async function merge(alert_ids: string[], incident_id: string): Promise<number> {
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id }), 200);
    return (await tenant.feed(incident_id)).at(-1).sequence;
  }
  const sequence = await merge(alerts, to);
  const request = { account: tenant.account, incidentId: to, sequence, by: 'operator test', requestId: 'r' };
  return {
    ...{ tenant, from, to, alerts, sequence, merge, request },
    /** The incidents that all the alerts are in. */
    incidents: async () => new Set(await tenant.placements(alerts)),
    entries: () => tenant.feed(to),
    /** Runs the command that undoes the merge. */
    undo: (option = '') => admin(`merge undo ${to} ${sequence} --account ${tenant.account}${option}`),
  };
}

describe.each([3, 95, 150])('undoing a merge of %i alerts', (count) => {
  it('moves them back to where they came from, with a feed entry of its own', async () => {
    const { tenant, from, to, alerts, sequence, undo, entries } = await merged(count);
    const { exitCode, out } = await undo();
    const [, undoEntry, ...more] = await entries();
    expect([exitCode, out]).toEqual([0, `${count} of ${count} alerts moved back. Feed entry ${undoEntry.sequence}.\n`]);
    expect(undoEntry).toMatchObject({
      ...{ kind: 'merge_undone', undone_sequence: sequence, by: expect.stringMatching(/^operator /) },
    });
    expect(new Set(undoEntry.moved[from])).toEqual(new Set(alerts));
    expect([more, await tenant.feed(from), await tenant.pending()]).toEqual([[], [], []]);
    await expectTrueFeeds(tenant, [to], alerts, from);
  });
});

describe.each([3, 150])('undoing a merge of %i alerts', (count) => {
  it('twice at the same time is one undo', async () => {
    const { from, request, incidents, entries } = await merged(count);
    const slower = connectAgain(table);
    let first: Awaited<ReturnType<typeof undoMerge>> | undefined;
    const undoFirst = async () => {
      first = await undoMerge(testDeps(table), request);
    };
    aroundCalls(slower, onceBefore('TransactWrite', undoFirst));
    // Its clock is ahead, and with it its sequence.
    const second = await undoMerge(testDeps(slower, { now: () => Date.now() + 60_000 }), request);
    expect(first?.moves).toHaveLength(count);
    expect(second).toMatchObject({ moves: [], undoneBy: first?.sequence });
    expect(await entries()).toMatchObject([{ kind: 'merge' }, { kind: 'merge_undone' }]);
    expect(await incidents()).toEqual(new Set([from]));
  });

  it('leaves alerts that a later merge has found in their incident', async () => {
    const { tenant, from, to, alerts, merge, request } = await merged(count);
    const confirmed = alerts.slice(0, 2);
    await merge(confirmed, to);
    const { moves, left } = await undoMerge(testDeps(table), request);
    expect([moves.length, new Set(left)]).toEqual([count - 2, new Set(confirmed)]);
    expect(await tenant.placements(alerts)).toEqual(alerts.map((id) => (confirmed.includes(id) ? to : from)));
  });

  it('leaves alerts that have moved since, and reports how many', async () => {
    const { tenant, from, to, alerts, merge, undo } = await merged(count);
    const elsewhere = await tenant.incident();
    await merge(alerts.slice(0, 1), elsewhere);
    await merge(alerts.slice(1, 2), elsewhere);
    await merge(alerts.slice(1, 2), to); // there again, but by another merge
    const dry = await undo(' --dry-run');
    expect(dry.err).toContain(`${count - 2} of ${count} alerts would be moved back; 2 have been moved since and stay.`);
    expect((await undo()).out).toContain(
      `${count - 2} of ${count} alerts moved back; 2 have been moved since and stay.`,
    );
    expect(await tenant.placements(alerts)).toEqual([elsewhere, to, ...alerts.slice(2).map(() => from)]);
  });

  it('again does nothing', async () => {
    const { from, sequence, undo, incidents, entries } = await merged(count);
    await undo();
    const before = await entries();
    const message = `Entry ${sequence} was already undone by entry ${before[1].sequence}.\n`;
    expect(await undo()).toMatchObject({ exitCode: 0, out: message });
    expect((await undo(' --dry-run')).err).toBe(`Dry run: nothing is written.\n${message}`);
    expect(await incidents()).toEqual(new Set([from]));
    expect(await entries()).toEqual(before);
  });
});

describe('an undo', () => {
  it('moves alerts that were in no incident back to none', async () => {
    const { tenant, to, merge, request } = await merged(1);
    const alerts = await tenant.alerts(2);
    await undoMerge(testDeps(table), { ...request, sequence: await merge(alerts, to) });
    expect(await tenant.placements(alerts)).toEqual([undefined, undefined]);
  });

  it('of one of two merges leaves the other', async () => {
    const { tenant, from, to, alerts, merge, request } = await merged(4);
    const elsewhere = await tenant.incident();
    const later = await merge(alerts.slice(0, 2), elsewhere);
    await undoMerge(testDeps(table), { ...request, incidentId: elsewhere, sequence: later });
    expect(await tenant.placements(alerts)).toEqual([to, to, to, to]);
    await undoMerge(testDeps(table), request);
    // The first two alerts are in that incident by the other undo, not by the first merge.
    expect(await tenant.placements(alerts)).toEqual([to, to, from, from]);
  });

  it.each(['repeating it', 'finish-merges', 'both at once'])(
    'that is interrupted after its commit is completed by %s',
    async (by) => {
      const { tenant, from, to, alerts, request, entries } = await merged(MANY);
      const dying = connectAgain(table);
      aroundCalls(dying, dyingAfterCommit());
      await expect(undoMerge(testDeps(dying), request, MERGE_LIMITS)).rejects.toThrow();
      expect((await entries())[1]).toMatchObject({ kind: 'merge_undone', pending: true });
      const repeat = async () => expect((await undoMerge(testDeps(table), request, MERGE_LIMITS)).moves).toEqual([]);
      const finish = async () => finishFeed(table, await entries(), MERGE_LIMITS);
      const ways = { 'repeating it': [repeat], 'finish-merges': [finish], 'both at once': [repeat, finish] };
      await Promise.all((ways[by as keyof typeof ways] ?? []).map((way) => way()));
      expect(await expectTrueFeeds(tenant, [to], alerts, from)).toHaveLength(2);
    },
  );

  it.each([1, 2, 3, 4])(
    'of a pending merge moves all alerts back, even if another caller finishes the merge after call %i of the undo',
    async (nth) => {
      const tenant = await newAccount(table);
      const [from, to] = [await tenant.incident(), await tenant.incident()];
      const alerts = await tenant.alerts(150, from);
      const dying = connectAgain(table);
      aroundCalls(dying, dyingAfterCommit());
      await tenant.merge(handlersOver(testDeps(dying)).mergeAlerts, { alert_ids: alerts, incident_id: to });
      const [{ sequence, pending }] = await tenant.feed(to);
      expect(pending).toBe(true);
      const slower = connectAgain(table);
      aroundCalls(slower, async ({ number }, send) => {
        await send();
        if (number === nth) await finishFeed(table, await tenant.feed(to));
      });
      const request = { account: tenant.account, incidentId: to, sequence, by: 'operator test', requestId: 'r' };
      expect((await undoMerge(testDeps(slower), request)).moves).toHaveLength(alerts.length);
      expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
    },
  );

  it('of an undo, or of an entry that is not there, says why it is impossible', async () => {
    const { tenant, to, undo, entries } = await merged(2);
    await undo();
    for (const [sequence, message] of [
      [5, 'has no entry 5'],
      [(await entries())[1].sequence, 'is not a merge: an undo cannot be undone'],
    ]) {
      const err = expect.stringMatching(`^Cannot undo: .*${message}.*\\.\n$`);
      const refused = await admin(`merge undo ${to} ${sequence} --account ${tenant.account}`);
      expect(refused).toEqual({ exitCode: 1, out: '', err });
    }
  });

  it('does not reach another account', async () => {
    const { request } = await merged(2);
    const { account } = await newAccount(table);
    await expect(undoMerge(testDeps(table), { ...request, account })).rejects.toThrow(UndoError);
  });
});

describe('restoring a work item', () => {
  async function deleted() {
    const { account, appKey } = await newAccount(table);
    const key = keys.workItem(account, 'wi-1');
    await put(table, key, { work_item_id: 'wi-1', version: 4, title: 't' });
    const remove = () =>
      callOperation(handlers, deleteWorkItem, { appKey, body: { work_item_id: 'wi-1', version: 4 } });
    expectEnvelope(await remove(), 200);
    return { account, key, remove };
  }

  it('undoes the deletion, with a new version, so that a repeated deletion does not apply', async () => {
    const { account, key, remove } = await deleted();
    const restore = () => admin(`work-item restore wi-1 --account ${account}`);
    expect(await restore()).toMatchObject({ exitCode: 0, out: 'Work item wi-1 restored; it is at version 6.\n' });
    expect(await stored(table, key)).toEqual({
      ...{ ...key, work_item_id: 'wi-1', version: 6, title: 't' },
      undone_deletion: { version: 5, by: expect.any(String), at_ms: expect.any(Number) },
    });
    expectEnvelope(await remove(), 400, 'InvalidParameter');
    expect(await restore()).toMatchObject({
      ...{ exitCode: 0, out: 'Work item wi-1 is not deleted; it is at version 6.\n' },
    });
  });

  it('does nothing to an item that has changed since it was read', async () => {
    const { account, key } = await deleted();
    const read = await stored(table, key);
    await put(table, key, { ...read, version: 9 });
    expect(await restoreWorkItem(table, account, read)).toBe(false);
    expect(await stored(table, key)).toEqual({ ...read, version: 9 });
  });

  it('of one at the highest version is refused, also by --dry-run', async () => {
    const { account, key } = await deleted();
    await put(table, key, { ...(await stored(table, key)), version: MAX_DELETABLE_VERSION });
    for (const option of ['', ' --dry-run']) {
      const { exitCode, err } = await admin(`work-item restore wi-1 --account ${account}${option}`);
      expect([exitCode, err]).toEqual([1, expect.stringContaining('is at the highest version')]);
    }
  });

  it('reports an item that does not exist', async () => {
    const { account } = await newAccount(table);
    const err = `Account ${account} has no work item wi-2.\n`;
    expect(await admin(`work-item restore wi-2 --account ${account}`)).toEqual({ exitCode: 1, out: '', err });
  });
});

describe('a command whose write does not fit into a row that another system filled', () => {
  /** A text that fills a row with these attributes up to its maximum size, less a few bytes. */
  const filler = (row: object) => 'x'.repeat(MAX_ITEM_BYTES - itemBytes(marshall(row)) - 5);

  it('says that the row is too large, and changes nothing', async () => {
    const { account } = await newAccount(table);
    const item = keys.workItem(account, 'wi-1');
    const deletion = { version: 4, deleted_at_ms: 1, deleted_by: 'k' };
    const deleted = { work_item_id: 'wi-1', ...deletion };
    await put(table, item, { ...deleted, title: filler({ ...item, ...deleted, title: '' }) });
    const accountRow = await stored(table, keys.account(account));
    await put(table, keys.account(account), {
      ...accountRow,
      permissions: [filler({ ...accountRow, permissions: [''] })],
    });
    for (const command of [`work-item restore wi-1 --account ${account}`, `app-key issue --account ${account}`]) {
      const { exitCode, err } = await admin(command);
      expect([exitCode, err], command).toEqual([1, expect.stringContaining('exceed the 400 KB')]);
      expect(err).not.toContain('Exception');
    }
    expect(await stored(table, item)).toMatchObject(deletion);
  });
});
