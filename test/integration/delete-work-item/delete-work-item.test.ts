import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../../lib/http/app-keys.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { type Int64, stringifyJson } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { restoreWorkItem } from '../../../packages/admin/incidents/restore-work-item.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { aroundCalls, losing } from '../../support/faults.ts';
import { callOperation, connectAgain, handlersOver, newTable, put, stored, testDeps } from '../../support/service.ts';
import { losingReply, tapWire } from '../../support/wire.ts';

const NOW = 1_750_000_000_000;
/** A version that a double cannot hold. */
const BIG = 9_007_199_254_740_993n;
const table = await newTable();
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

interface Row {
  id?: string;
  version?: Int64;
  deleted_at_ms?: number;
  details?: string;
  undone_deletion?: unknown;
}
interface Deletion {
  /** By default 3. */
  version?: Int64;
  /** By default that of the account's work item. */
  id?: string;
  handledBy?: typeof handlers;
}

/** A new account with a work item, by default at version 3. */
async function newItem({ id = randomUUID(), ...row }: Row = {}) {
  const { account, appKey } = await newCaller(table);
  const key = keys.workItem(account, id);
  await put(table, key, { work_item_id: id, version: 3, title: 'Replace the disk', assignee: { name: 'Ada' }, ...row });
  return {
    account,
    appKey,
    id,
    row: () => stored(table, key),
    remove({ version = 3, id: work_item_id = id, handledBy = handlers }: Deletion = {}) {
      const rawBody = stringifyJson({ work_item_id, version });
      return callOperation(handledBy, deleteWorkItem, { appKey, rawBody });
    },
    restore: async () => expect(await restoreWorkItem(table, account, await stored(table, key))).toBe(true),
  };
}

describe('deleting a work item', () => {
  it('marks the record deleted, when and by which key, adds 1 to its version and keeps everything else', async () => {
    const item = await newItem({ version: BIG });
    const before = await item.row();
    const answer = await item.remove({ version: BIG });
    expectEnvelope(answer, 200);
    expect(answer.body.data).toEqual({});
    const deleted = {
      ...before,
      version: BIG + 1n,
      deleted_at_ms: NOW,
      deleted_by: appKeyIdOf(hashAppKey(item.appKey)),
      deleted_request_id: answer.body.request_id,
    };
    expect(await item.row()).toEqual(deleted);
    // Repeated by its caller, it succeeds and writes nothing.
    const laterHandlers = handlersOver(testDeps(table, { now: () => NOW + 9_000 }));
    expectEnvelope(await item.remove({ version: BIG, handledBy: laterHandlers }), 200);
    expect(await item.row()).toEqual(deleted);
  });

  it.each<[what: string, row: Row, deletion: Deletion, code: string, message: string]>([
    ['another version', {}, { version: 2 }, 'InvalidParameter', 'which is 3, not 2.'],
    ['another version of a deleted item', { version: 4, deleted_at_ms: 1 }, { version: 4 }, 'ResourceNotFound', ''],
    ['an unknown item', {}, { id: 'no-such-item' }, 'ResourceNotFound', 'Work item no-such-item does not exist.'],
    ['an item whose row has no room for the deletion', { details: 'x'.repeat(409_410) }, {}, 'BadRequest', ''],
  ])('is refused, and nothing is written: %s', async (_what, row, deletion, code, message) => {
    const item = await newItem(row);
    const before = await item.row();
    const answer = await item.remove(deletion);
    expectEnvelope(answer, 400, code);
    expect(answer.body.error.message).toContain(message);
    if (code !== 'InvalidParameter') expect(answer.body.error.message).toContain(deletion.id ?? item.id);
    expect(await item.row()).toEqual(before);
    if (deletion.id) expect(await stored(table, keys.workItem(item.account, deletion.id))).toBeUndefined();
  });

  it('that was restored requires its new version', async () => {
    const item = await newItem();
    // With a clock that stands still, the second call would have the time of the first, and be taken for a retry of it.
    const handledBy = handlersOver(testDeps(table));
    await item.remove({ handledBy });
    await item.restore();
    expectEnvelope(await item.remove({ version: 3, handledBy }), 400, 'InvalidParameter');
    expectEnvelope(await item.remove({ version: 5, handledBy }), 200);
  });

  it.each([null, 'x', [[]], {}, { version: null }, { version: '4' }, { version: 4.5 }])(
    'whose row has an undone_deletion of %j, which another system wrote, depends on its version alone',
    async (undone_deletion) => {
      const item = await newItem({ undone_deletion });
      const before = await item.row();
      expectEnvelope(await item.remove({ version: 2 }), 400, 'InvalidParameter');
      expect(await item.row()).toEqual(before);
      expectEnvelope(await item.remove({ version: 3 }), 200);
    },
  );

  it('whose write never reaches DynamoDB is ServiceUnavailable, although the table can be read', async () => {
    const item = await newItem();
    const before = await item.row();
    const connection = connectAgain(table);
    aroundCalls(connection, losing('Update'));
    expectEnvelope(await item.remove({ handledBy: handlersOver(testDeps(connection)) }), 503, 'ServiceUnavailable');
    expect(await item.row()).toEqual(before);
  });

  it.each([
    { event: 'the reply from DynamoDB is lost', isUndone: false },
    { event: 'the reply is lost, and the deletion is undone before the SDK retries the write', isUndone: true },
  ])('stays a success when $event', async ({ isUndone }) => {
    const item = await newItem();
    const connection = connectAgain(table);
    const lose = losingReply(({ command }) => command.startsWith('Update'));
    const tap = tapWire(connection, (attempt, send) =>
      lose(attempt, send).catch(async (error) => {
        if (isUndone && error.code === 'ECONNRESET') await item.restore();
        throw error;
      }),
    );
    const handledBy = handlersOver(testDeps(connection));
    expectEnvelope(await item.remove({ handledBy }), 200);
    expect(tap.count('UpdateItemCommand')).toBe(2);
    expect(await item.row()).toMatchObject(
      isUndone ? { version: 5 } : { version: 4, deleted_at_ms: expect.anything() },
    );
    // When the caller repeats it, it counts as a new deletion, whose version is no longer the current one.
    if (isUndone) expectEnvelope(await item.remove({ handledBy }), 400, 'InvalidParameter');
  });
});
