import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { MAX_DELETABLE_VERSION } from '../../../../lib/model/work-item.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { expectTrueEntries, mergesOf } from '../../../../test/integration/merge-alerts/merging.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../../../test/limits-proxy/item-size.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { dyingAfterCommit, intercepted } from '../../../../test/support/faults.ts';
import { newAccount, objectId } from '../../../../test/support/incidents.ts';
import { createHandlers, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { undoMerge } from '../../incidents/undo-merge.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const handlers = createHandlers(testDeps(table));
const admin = adminOf(table);

/** An account with two incidents, in which alerts of the first were merged into the second. */
async function merged(count: number) {
  const tenant = await newAccount(table);
  const { account } = tenant;
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(count, from);
  async function merge(alert_ids: string[], incident_id: string): Promise<number> {
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id }), 200);
    return (await tenant.history(incident_id)).at(-1).sequence;
  }
  const sequence = await merge(alerts, to);
  return {
    ...{ tenant, account, from, to, alerts, sequence, merge },
    async expectTrue() {
      const first = { incidents: [to], alerts, start: from, title: 'Checkout is down' };
      return expectTrueEntries(table, tenant, await mergesOf(table, tenant, [to]).entries(), first);
    },
    undo: (entry = sequence, more = '') => admin(`merge undo ${to} ${entry} --account ${account}${more}`),
  };
}

describe('an undo', () => {
  it.each([3, 150])('moves %i alerts back to where they came from, with an entry of its own', async (count) => {
    const { tenant, from, to, sequence, undo, expectTrue } = await merged(count);
    const { exitCode, out } = await undo();
    const [, entry, ...more] = await tenant.history(to);
    expect([exitCode, out]).toEqual([0, `${count} of ${count} alerts moved back. History entry ${entry.sequence}.\n`]);
    const by = expect.stringMatching(/^operator /);
    expect(entry).toMatchObject({ kind: 'merge_undone', undone_sequence: sequence, by });
    expect([more, await tenant.history(from), await tenant.pending()]).toEqual([[], [], []]);
    await expectTrue();

    const already = `Entry ${sequence} was already undone by entry ${entry.sequence}.\n`;
    expect(await undo()).toMatchObject({ exitCode: 0, out: already });
    expect((await undo(sequence, ' --dry-run')).err).toContain(already);
    expect(await tenant.history(to)).toHaveLength(2);
    for (const [impossible, message] of [
      [5, 'has no entry 5'],
      [entry.sequence, 'an undo cannot be undone'],
    ])
      expect(await undo(impossible)).toEqual({ exitCode: 1, out: '', err: expect.stringContaining(message) });
    const { account } = await newAccount(table);
    const elsewhere = await admin(`merge undo ${to} ${sequence} --account ${account}`);
    expect(elsewhere.err).toMatch(/^Cannot undo: .* has no entry/);
  });

  it('leaves alerts that have moved since or whose origin is gone, and moves the others', async () => {
    const { tenant, from, to, alerts: others, merge, undo } = await merged(2);
    const [elsewhere, alerts] = [await tenant.incident(), await tenant.alerts(4)];
    const [lost = ''] = await tenant.alerts(1, objectId());
    const [expired = ''] = await tenant.alerts(1);
    await merge(others, from);
    const sequence = await merge([...others, ...alerts, lost, expired], to);
    await put(table, keys.alert(tenant.account, expired), { alert_id: expired, incident_id: to, ttl: 1 });
    const [away = '', thereAgain = '', confirmed = '', unassigned = ''] = alerts;
    await merge([away, thereAgain], elsewhere);
    await merge([thereAgain, confirmed], to);
    const result = (verb: string) =>
      `3 of 7 alerts ${verb} back; 3 have been moved since and stay; the former incidents of these are gone: ${lost}; 1 alert expired.`;
    expect((await undo(sequence, ' --dry-run')).err).toContain(result('would be moved'));
    expect(await undo(sequence)).toMatchObject({ exitCode: 0, out: expect.stringContaining(result('moved')) });
    expect(await tenant.placements([away, thereAgain, confirmed, lost])).toEqual([elsewhere, to, to, to]);
    expect(await tenant.placements([unassigned, ...others])).toEqual([undefined, from, from]);
    const { out } = await admin(`show incident ${to} --account ${tenant.account}`);
    expect(out).toContain('1 alert expired since');
    expect(out).not.toContain(expired);
  });

  it('that is interrupted after its commit is completed by the next one', async () => {
    const { tenant, account, to, sequence: undone, expectTrue } = await merged(20);
    const request = { account, incidentId: to, sequence: undone, by: 'operator test', requestId: 'r' };
    const limits = { transactionItems: 12 };
    const dying = intercepted(table, dyingAfterCommit());
    await expect(undoMerge(testDeps(dying), request, limits)).rejects.toThrow();
    const [, { sequence, pending }] = await tenant.history(to);
    expect(pending).toBe(true);
    expect(await undoMerge(testDeps(table), request, limits)).toMatchObject({ moves: [], undoneBy: sequence });
    expect(await expectTrue()).toHaveLength(2);
  });
});

describe('work-item restore', () => {
  /** An account with a deleted work item at version 5, with further attributes. */
  async function deleted(more: object = {}) {
    const { account } = await newAccount(table);
    const key = keys.workItem(account, 'wi-1');
    const item = { ...key, work_item_id: 'wi-1', version: 5, title: 't' };
    const row = { ...item, deleted_at_ms: 1, deleted_by: 'k', ...more };
    await put(table, key, row);
    const restore = (args = 'wi-1') => admin(`work-item restore ${args} --account ${account}`);
    return { key, item, row, restore };
  }

  it('undoes the deletion, and records which', async () => {
    const { key, item, restore } = await deleted({ deleted_request_id: 'r' });
    expect(await restore()).toMatchObject({ exitCode: 0, out: 'Work item wi-1 restored; it is at version 6.\n' });
    const undone_deletion = { version: 5, by: 'k', at_ms: 1 };
    expect(await stored(table, key)).toEqual({ ...item, version: 6, undone_deletion });
    expect((await restore()).out).toMatch(/is not deleted; it is at version 6/);
  });

  it('refuses an item whose row another system has filled', async () => {
    const { row } = await deleted();
    const filled = await deleted({ title: 'x'.repeat(MAX_ITEM_BYTES - itemBytes(marshall(row))) });
    expect((await filled.restore()).err).toMatch(/^(?!.*Exception).*400 KB/s);
    expect(await stored(table, filled.key)).toEqual(filled.row);
  });

  it.each([
    [
      'an item at the highest version',
      { version: MAX_DELETABLE_VERSION },
      'wi-1 --dry-run',
      /is at the highest version/,
    ],
    ['an unknown item', {}, 'wi-2', /^Account \d+ has no work item wi-2\.\n$/],
  ])('refuses %s', async (_what, more, args, err) => {
    const { key, row, restore } = await deleted(more);
    expect(await restore(args)).toEqual({ exitCode: 1, out: '', err: expect.stringMatching(err) });
    expect(await stored(table, key)).toEqual(row);
  });
});
