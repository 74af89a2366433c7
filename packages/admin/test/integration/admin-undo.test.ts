import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../../../lib/dynamodb/item-size.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { deleteWorkItem } from '../../../../lib/http/operations.ts';
import { MAX_DELETABLE_VERSION } from '../../../../lib/ingest/kinds.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { aroundCalls, connectionLost, dyingAfterCommit } from '../../../../test/support/faults.ts';
import { finishFeed } from '../../../../test/support/finish.ts';
import { type Account, newAccount } from '../../../../test/support/incidents.ts';
import {
  connectAgain,
  eventFor,
  handlersOver,
  invoke,
  newTable,
  put,
  stored,
  testDeps,
} from '../../../../test/support/service.ts';
import { losingReply, tapWire } from '../../../../test/support/wire.ts';
import { restoreWorkItem } from '../../incidents/restore-work-item.ts';
import { UndoError, undoMerge } from '../../incidents/undo-merge.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const handlers = handlersOver(testDeps(table));
const admin = adminOf(table);

/** An account with two incidents, alerts of the first merged into the second. */
async function merged(count: number) {
  const tenant = await newAccount(table);
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(count, from);
  await merge(tenant, alerts, to);
  const sequence = (await lastEntry(tenant, to)).sequence as number;
  return { tenant, from, to, alerts, sequence };
}
async function merge(tenant: Account, alert_ids: string[], incident_id: string) {
  expectEnvelope(await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id }), 200);
}
const entriesOf = (tenant: Account, incidentId: string) => tenant.feed(incidentId);
const lastEntry = async (tenant: Account, incidentId: string) => (await entriesOf(tenant, incidentId)).at(-1);
const undoDeps = (of: Table) => {
  const { now, newId } = testDeps(of);
  return { table: of, now, newId };
};
const request = (tenant: Account, incidentId: string, sequence: number) => ({
  account: tenant.account,
  incidentId,
  sequence,
  by: 'operator test',
  requestId: 'r',
});

describe.each([3, 95, 150])('undoing a merge of %i alerts', (count) => {
  it('moves them back to where they came from, with a feed entry of its own', async () => {
    const { tenant, from, to, alerts, sequence } = await merged(count);
    const { exitCode, out } = await admin(`merge undo ${to} ${sequence} --account ${tenant.account}`);
    expect(exitCode).toBe(0);
    expect(out).toMatch(new RegExp(`^${count} of ${count} alerts moved back\\. Feed entry \\d+\\.\\n$`));
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
    const entries = await entriesOf(tenant, to);
    expect(entries.map(({ kind }) => kind)).toEqual(['merge', 'merge_undone']);
    const own = entries[1];
    expect(own).toMatchObject({ undone_sequence: sequence, by: expect.stringMatching(/^operator /) });
    expect(own).not.toHaveProperty('pending');
    expect(new Set(own.moved[from])).toEqual(new Set(alerts));
    expect(await tenant.feed(from)).toEqual([]);
    expect(await tenant.pending()).toEqual([]);
  });
});

describe.each([3, 150])('two concurrent undos of one merge of %i alerts', (count) => {
  it('are one undo', async () => {
    const { tenant, from, to, alerts, sequence } = await merged(count);
    const slower = connectAgain(table);
    let first: Awaited<ReturnType<typeof undoMerge>> | undefined;
    aroundCalls(slower, async ({ command }, send) => {
      if (command.startsWith('TransactWrite'))
        first ??= await undoMerge(undoDeps(table), request(tenant, to, sequence));
      await send();
    });
    // Its clock is ahead, and with it its sequence.
    const now = () => Date.now() + 60_000;
    const second = await undoMerge({ ...undoDeps(slower), now }, request(tenant, to, sequence));
    expect(first?.moves).toHaveLength(count);
    expect(second).toMatchObject({ moves: [], undoneBy: first?.sequence });
    expect((await entriesOf(tenant, to)).map(({ kind }) => kind)).toEqual(['merge', 'merge_undone']);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
  });
});

describe.each([3, 150])('undoing a merge of %i alerts', (count) => {
  it('leaves alerts that a later merge has found in their incident', async () => {
    const { tenant, from, to, alerts, sequence } = await merged(count);
    const confirmed = alerts.slice(0, 2);
    await merge(tenant, confirmed, to);
    const { moves, left } = await undoMerge(undoDeps(table), request(tenant, to, sequence));
    expect([moves.length, new Set(left)]).toEqual([count - 2, new Set(confirmed)]);
    expect(new Set(await tenant.placements(confirmed))).toEqual(new Set([to]));
    expect(new Set(await tenant.placements(alerts.slice(2)))).toEqual(new Set([from]));
  });

  it('leaves alerts that have moved since, and reports how many', async () => {
    const { tenant, from, to, alerts, sequence } = await merged(count);
    const elsewhere = await tenant.incident();
    await merge(tenant, alerts.slice(0, 1), elsewhere);
    await merge(tenant, alerts.slice(1, 2), elsewhere);
    await merge(tenant, alerts.slice(1, 2), to); // there again, but by another merge
    const dry = await admin(`merge undo ${to} ${sequence} --account ${tenant.account} --dry-run`);
    expect(dry.err).toContain(`${count - 2} of ${count} alerts would be moved back; 2 have been moved since and stay.`);
    const { out } = await admin(`merge undo ${to} ${sequence} --account ${tenant.account}`);
    expect(out).toContain(`${count - 2} of ${count} alerts moved back; 2 have been moved since and stay.`);
    const places = await tenant.placements(alerts);
    expect(places.slice(0, 2)).toEqual([elsewhere, to]);
    expect(new Set(places.slice(2))).toEqual(new Set([from]));
  });

  it('twice does nothing the second time', async () => {
    const { tenant, to, alerts, sequence } = await merged(count);
    await admin(`merge undo ${to} ${sequence} --account ${tenant.account}`);
    const places = await tenant.placements(alerts);
    const again = await admin(`merge undo ${to} ${sequence} --account ${tenant.account}`);
    const [, own] = await entriesOf(tenant, to);
    const said = `Entry ${sequence} was already undone by entry ${own.sequence}.\n`;
    expect([again.exitCode, again.out]).toEqual([0, said]);
    const planned = await admin(`merge undo ${to} ${sequence} --account ${tenant.account} --dry-run`);
    expect(planned.err).toBe(`Dry run: nothing is written.\n${said}`);
    expect(await tenant.placements(alerts)).toEqual(places);
    expect(await entriesOf(tenant, to)).toHaveLength(2);
  });
});

/** Small transactions, and alerts that take several of them. */
const SIZES = { transactionItems: 12 };
const MANY = 20;

describe('an undo', () => {
  it.each([3, MANY])('of %i alerts is done once when the reply to its commit is lost', async (count) => {
    const { tenant, from, to, alerts, sequence } = await merged(count);
    const lossy = connectAgain(table);
    tapWire(
      lossy,
      losingReply(({ command }) => command === 'TransactWriteItemsCommand'),
    );
    const undo = await undoMerge(undoDeps(lossy), request(tenant, to, sequence), SIZES);
    expect(undo.moves).toHaveLength(count);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
    const entries = await entriesOf(tenant, to);
    expect(entries.map(({ large = false }) => large)).toEqual([false, count === MANY]);
  });

  it('moves alerts that were in no incident back to none', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(2);
    await merge(tenant, alerts, to);
    const { sequence } = await lastEntry(tenant, to);
    await undoMerge(undoDeps(table), request(tenant, to, sequence));
    expect(await tenant.placements(alerts)).toEqual([undefined, undefined]);
  });

  it('of one of two merges leaves the other', async () => {
    const { tenant, from, to, alerts, sequence } = await merged(4);
    const elsewhere = await tenant.incident();
    await merge(tenant, alerts.slice(0, 2), elsewhere);
    const { sequence: later } = await lastEntry(tenant, elsewhere);
    await undoMerge(undoDeps(table), request(tenant, elsewhere, later));
    expect(await tenant.placements(alerts)).toEqual([to, to, to, to]);
    const undo = await undoMerge(undoDeps(table), request(tenant, to, sequence));
    // The first two alerts are in that incident by the other undo, not by the first merge.
    expect(undo.moves.map(({ alertId }) => alertId).sort()).toEqual(alerts.slice(2).sort());
    expect(await tenant.placements(alerts)).toEqual([to, to, from, from]);
  });

  it('that is interrupted after its commit is completed by repeating it, or by finish-merges', async () => {
    for (const by of ['again', 'finish-merges', 'both at once']) {
      const { tenant, from, to, alerts, sequence } = await merged(MANY);
      const dying = connectAgain(table);
      let committed = false;
      aroundCalls(dying, async ({ command }, send) => {
        if (committed) throw connectionLost();
        await send();
        if (command === 'TransactWriteItemsCommand') committed = true;
      });
      await expect(undoMerge(undoDeps(dying), request(tenant, to, sequence), SIZES)).rejects.toThrow();
      const own = await lastEntry(tenant, to);
      expect(own).toMatchObject({ kind: 'merge_undone', pending: true });
      const finish = async () => finishFeed(table, await tenant.feed(to), SIZES);
      const again = () => undoMerge(undoDeps(table), request(tenant, to, sequence), SIZES);
      if (by === 'again') expect((await again()).moves).toEqual([]);
      else if (by === 'finish-merges') await finish();
      else await Promise.all([finish(), again()]);
      expect([by, new Set(await tenant.placements(alerts))]).toEqual([by, new Set([from])]);
      expect((await lastEntry(tenant, to)).pending).toBeUndefined();
      expect(await entriesOf(tenant, to)).toHaveLength(2);
    }
  });

  it.each([1, 2, 3, 4])('of a pending merge that another caller finishes after its call %i is done', async (nth) => {
    const tenant = await newAccount(table);
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(150, from);
    const dying = connectAgain(table);
    aroundCalls(dying, dyingAfterCommit());
    await tenant.merge(handlersOver(testDeps(dying)).mergeAlerts, { alert_ids: alerts, incident_id: to });
    const { sequence, pending } = await lastEntry(tenant, to);
    expect(pending).toBe(true);
    const slower = connectAgain(table);
    aroundCalls(slower, async ({ number }, send) => {
      await send();
      if (number === nth) await finishFeed(table, await tenant.feed(to));
    });
    const { moves } = await undoMerge(undoDeps(slower), request(tenant, to, sequence));
    expect(moves).toHaveLength(alerts.length);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
  });

  it('that fails before its commit has done nothing', async () => {
    for (const count of [3, MANY]) {
      const { tenant, to, alerts, sequence } = await merged(count);
      const dying = connectAgain(table);
      aroundCalls(dying, async ({ command }, send) => {
        if (command === 'TransactWriteItemsCommand') throw connectionLost();
        return send();
      });
      await expect(undoMerge(undoDeps(dying), request(tenant, to, sequence), SIZES)).rejects.toThrow();
      expect(new Set(await tenant.placements(alerts))).toEqual(new Set([to]));
      expect(await entriesOf(tenant, to)).toHaveLength(1);
    }
  });

  it('leaves feeds that explain where the alerts are, if merges of the same alerts race with it', async () => {
    const { tenant, from, to, alerts, sequence } = await merged(20);
    const others = [await tenant.incident(), await tenant.incident(), await tenant.incident()];
    const [, ...answers] = await Promise.all([
      undoMerge(undoDeps(connectAgain(table)), request(tenant, to, sequence)),
      ...others.map((incident_id, nth) =>
        tenant.merge(handlers.mergeAlerts, { alert_ids: alerts.slice(5 * nth, 5 * nth + 8), incident_id }),
      ),
    ]);
    const feeds = (await Promise.all([to, ...others].map((id) => entriesOf(tenant, id)))).flat();
    // Each successful merge has an entry, beside the merge that is undone.
    const done = answers.filter(({ status }) => status === 200).length;
    expect(done).toBeGreaterThan(0);
    expect(feeds.filter(({ kind }) => kind === 'merge')).toHaveLength(1 + done);
    const place = new Map(alerts.map((id) => [id, from]));
    for (const entry of feeds.sort((one, other) => one.sequence - other.sequence))
      for (const [other, ids] of Object.entries(entry.moved as Record<string, string[]>))
        for (const id of ids) {
          const [source, target] = entry.kind === 'merge' ? [other, entry.incident_id] : [entry.incident_id, other];
          expect(place.get(id)).toBe(source);
          place.set(id, target);
        }
    expect(await tenant.placements(alerts)).toEqual(alerts.map((id) => place.get(id)));
  });

  it.each([
    ['an entry that is not there', 5, 'has no entry 5'],
    ['an undo', undefined, 'is not a merge: an undo cannot be undone'],
  ])('of %s says why it is impossible', async (_what, given, message) => {
    const { tenant, to, sequence } = await merged(2);
    await undoMerge(undoDeps(table), request(tenant, to, sequence));
    const own = (await lastEntry(tenant, to)).sequence;
    const { exitCode, err } = await admin(`merge undo ${to} ${given ?? own} --account ${tenant.account}`);
    expect(exitCode).toBe(1);
    expect(err).toMatch(/^Cannot undo: .*\.\n$/);
    expect(err).toContain(message);
  });

  it('does not reach another account', async () => {
    const { to, sequence } = await merged(2);
    const other = await newAccount(table);
    await expect(undoMerge(undoDeps(table), request(other, to, sequence))).rejects.toThrow(UndoError);
  });
});

describe('restoring a work item', () => {
  async function deleted() {
    const tenant = await newAccount(table);
    const key = keys.workItem(tenant.account, 'wi-1');
    await put(table, key, { work_item_id: 'wi-1', version: 4, title: 't' });
    const remove = () =>
      invoke(
        handlers.deleteWorkItem,
        eventFor(deleteWorkItem, { appKey: tenant.appKey, body: { work_item_id: 'wi-1', version: 4 } }),
      );
    expectEnvelope(await remove(), 200);
    return { tenant, key, remove };
  }

  it('undoes the deletion, with a new version, so that a repeated deletion does not apply', async () => {
    const { tenant, key, remove } = await deleted();
    const { exitCode, out } = await admin(`work-item restore wi-1 --account ${tenant.account}`);
    expect([exitCode, out]).toEqual([0, 'Work item wi-1 restored; it is at version 6.\n']);
    const { undone_deletion, ...item } = await stored(table, key);
    expect(item).toEqual({ ...key, work_item_id: 'wi-1', version: 6, title: 't' });
    expect(undone_deletion).toEqual({ version: 5, by: expect.any(String), at_ms: expect.any(Number) });
    expectEnvelope(await remove(), 400, 'InvalidParameter');
    const again = await admin(`work-item restore wi-1 --account ${tenant.account}`);
    expect([again.exitCode, again.out]).toEqual([0, 'Work item wi-1 is not deleted; it is at version 6.\n']);
  });

  it('succeeds when the reply is lost', async () => {
    const { tenant, key } = await deleted();
    const lossy = connectAgain(table);
    const tap = tapWire(
      lossy,
      losingReply(() => true),
    );
    expect(await restoreWorkItem(lossy, tenant.account, await stored(table, key))).toBe(true);
    expect(tap.count('TransactWriteItemsCommand')).toBe(2);
    expect((await stored(table, key)).version).toBe(6);
  });

  it('does nothing to an item that has changed since it was read', async () => {
    const { tenant, key } = await deleted();
    const read = await stored(table, key);
    await put(table, key, { ...read, version: 9 });
    expect(await restoreWorkItem(table, tenant.account, read)).toBe(false);
    expect((await stored(table, key)).deleted_at_ms).toBeDefined();
  });

  it('of one at the highest version is refused, also by --dry-run', async () => {
    const { tenant, key } = await deleted();
    await put(table, key, { ...(await stored(table, key)), version: MAX_DELETABLE_VERSION });
    for (const option of ['', ' --dry-run']) {
      const { exitCode, err } = await admin(`work-item restore wi-1 --account ${tenant.account}${option}`);
      expect([exitCode, err]).toEqual([1, expect.stringContaining('is at the highest version')]);
    }
  });

  it('reports an item that does not exist', async () => {
    const tenant = await newAccount(table);
    const missing = await admin(`work-item restore wi-2 --account ${tenant.account}`);
    expect([missing.exitCode, missing.err]).toEqual([1, `Account ${tenant.account} has no work item wi-2.\n`]);
  });
});

describe('a command whose write does not fit into a row that another system filled', () => {
  /** A text that leaves a row of these other attributes a few bytes. */
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
    const commands = [`work-item restore wi-1 --account ${account}`, `app-key issue --account ${account}`];
    for (const command of commands) {
      const { exitCode, err } = await admin(command);
      expect([exitCode, err], command).toEqual([1, expect.stringContaining('larger than the 400 KB')]);
      expect(err).not.toContain('Exception');
    }
    expect(await stored(table, item)).toMatchObject(deletion);
  });
});
