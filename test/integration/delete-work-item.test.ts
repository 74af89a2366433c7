import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../lib/auth/app-keys.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { deleteWorkItem } from '../../lib/http/operations.ts';
import { type Int64, stringifyJson } from '../../lib/shared/json.ts';
import { restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import { aroundCalls, losing } from '../support/faults.ts';
import {
  callOperation,
  connectAgain,
  type Handlers,
  handlersOver,
  newTable,
  put,
  stored,
  testDeps,
} from '../support/service.ts';
import { losingReply, tapWire } from '../support/wire.ts';

const NOW = 1_750_000_000_000;
const table = await newTable();
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

interface Item {
  id?: string;
  version?: Int64;
  deleted_at_ms?: number;
  details?: string;
  undone_deletion?: unknown;
}

/** A new account with a work item, by default at version 3. */
async function newItem({ id = randomUUID(), ...row }: Item = {}) {
  const { account, appKey } = await newCaller(table);
  const key = keys.workItem(account, id);
  await put(table, key, { work_item_id: id, version: 3, title: 'Replace the disk', assignee: { name: 'Ada' }, ...row });
  return {
    account,
    appKey,
    id,
    key,
    row: () => stored(table, key),
    remove({
      version = 3,
      id: work_item_id = id,
      by = handlers,
    }: {
      version?: Int64;
      id?: string;
      by?: Handlers;
    } = {}) {
      const rawBody = stringifyJson({ work_item_id, version });
      return callOperation(by, deleteWorkItem, { appKey, rawBody });
    },
  };
}

describe('deleting a work item', () => {
  it('marks the record deleted, when and by which key, adds 1 to its version and keeps everything else', async () => {
    const item = await newItem();
    const before = await item.row();
    const answer = await item.remove();
    expectEnvelope(answer, 200);
    expect(answer.body.data).toEqual({});
    expect(await item.row()).toEqual({
      ...before,
      version: 4,
      deleted_at_ms: NOW,
      deleted_by: appKeyIdOf(hashAppKey(item.appKey)),
      deleted_request_id: answer.body.request_id,
    });
  });

  it('repeated after success succeeds and writes nothing', async () => {
    const item = await newItem();
    await item.remove();
    const done = await item.row();
    const later = handlersOver(testDeps(table, { now: () => NOW + 9_000 }));
    const answer = await item.remove({ by: later });
    expectEnvelope(answer, 200);
    expect(answer.body.data).toEqual({});
    expect(await item.row()).toEqual(done);
  });

  const deleted = { version: 4, deleted_at_ms: NOW - 1 };
  const FULL = { details: 'x'.repeat(409_410) };
  const BIG = 9_007_199_254_740_993n;
  it.each<[string, row: Item, call: { version?: Int64; id?: string }, code: string, message: string]>([
    ['an earlier version', {}, { version: 2 }, 'InvalidParameter', 'which is 3, not 2.'],
    ['a later version', {}, { version: 4 }, 'InvalidParameter', 'which is 3, not 4.'],
    ['a version near one beyond 2^53', { version: BIG }, { version: BIG - 1n }, 'InvalidParameter', `is ${BIG}, not`],
    ...[1, 2, 4, 5].map((version): [string, Item, { version: number }, string, string] => [
      `version ${version} of an item deleted at version 3`,
      deleted,
      { version },
      'ResourceNotFound',
      'does not exist',
    ]),
    ['an unknown item', {}, { id: 'no-such-item' }, 'ResourceNotFound', 'Work item no-such-item does not exist.'],
    ['an item whose row has no room for the deletion', FULL, {}, 'BadRequest', ''],
  ])('is refused, and nothing is written: %s', async (_what, row, call, code, message) => {
    const item = await newItem(row);
    const before = await item.row();
    const answer = await item.remove(call);
    expectEnvelope(answer, 400, code);
    expect(answer.body.error.message).toContain(message);
    if (code !== 'InvalidParameter') expect(answer.body.error.message).toContain(call.id ?? item.id);
    expect(await item.row()).toEqual(before);
    if (call.id) expect(await stored(table, keys.workItem(item.account, call.id))).toBeUndefined();
  });

  it('works exactly with versions beyond 2^53', async () => {
    const item = await newItem({ version: BIG });
    expectEnvelope(await item.remove({ version: BIG }), 200);
    expect((await item.row()).version).toBe(BIG + 1n);
    expectEnvelope(await item.remove({ version: BIG }), 200);
    expectEnvelope(await item.remove({ version: BIG - 1n }), 400, 'ResourceNotFound');
  });

  it('that belongs to another account is answered as if it did not exist, at the stored version and at others', async () => {
    const [mine, theirs] = [await newItem(), await newItem()];
    const before = await theirs.row();
    for (const version of [3, 4]) {
      const answer = await mine.remove({ version, id: theirs.id });
      expectEnvelope(answer, 400, 'ResourceNotFound');
      expect(answer.body.error.message).toBe(`Work item ${theirs.id} does not exist.`);
    }
    expect(await theirs.row()).toEqual(before);
  });

  it('that was restored since goes by its new version', async () => {
    const item = await newItem();
    await item.remove();
    const { deleted_at_ms: _at, deleted_by: _by, ...restored } = await item.row();
    await put(table, item.key, { ...restored, version: 5 });
    expectEnvelope(await item.remove({ version: 3 }), 400, 'InvalidParameter');
    expectEnvelope(await item.remove({ version: 5 }), 200);
  });

  it.each([null, 'x', [[]], {}, { version: null }, { version: '4' }, { version: 4.5 }])(
    'whose row has an undone_deletion of %j, which another system wrote, goes by its version',
    async (undone_deletion) => {
      const item = await newItem({ undone_deletion });
      const before = await item.row();
      expectEnvelope(await item.remove({ version: 2 }), 400, 'InvalidParameter');
      expect(await item.row()).toEqual(before);
      expectEnvelope(await item.remove({ version: 3 }), 200);
    },
  );

  it('by 16 callers with one version: one deletes, all answer 200, and the version rose by one', async () => {
    const item = await newItem();
    const answers = await Promise.all(Array.from({ length: 16 }, () => item.remove()));
    for (const answer of answers) expectEnvelope(answer, 200);
    expect(await item.row()).toMatchObject({ version: 4, deleted_at_ms: NOW });
  });

  it('stays a success when the reply from DynamoDB is lost', async () => {
    const item = await newItem();
    const own = connectAgain(table);
    const tap = tapWire(
      own,
      losingReply(({ command }) => command.startsWith('Update')),
    );
    expectEnvelope(await item.remove({ by: handlersOver(testDeps(own)) }), 200);
    expect(tap.count('UpdateItemCommand')).toBe(2);
    expect((await item.row()).version).toBe(4);
  });

  it('whose write never reaches DynamoDB is ServiceUnavailable, although the table can be read', async () => {
    const item = await newItem();
    const before = await item.row();
    const own = connectAgain(table);
    aroundCalls(own, losing('Update'));
    expectEnvelope(await item.remove({ by: handlersOver(testDeps(own)) }), 503, 'ServiceUnavailable');
    expect(await item.row()).toEqual(before);
  });

  it('stays a success if it is undone before the SDK retries it', async () => {
    const item = await newItem();
    const own = connectAgain(table);
    const lose = losingReply(({ command }) => command.startsWith('Update'));
    tapWire(own, (attempt, send) =>
      lose(attempt, send).catch(async (error) => {
        if (error.code === 'ECONNRESET') await restoreWorkItem(table, item.account, await item.row());
        throw error;
      }),
    );
    const by = handlersOver(testDeps(own));
    expectEnvelope(await item.remove({ by }), 200);
    expect(await item.row()).not.toHaveProperty('deleted_at_ms');
    // Sent by its caller again, it is a call of its own.
    expectEnvelope(await item.remove({ by }), 400, 'InvalidParameter');
  });

  it('takes an id of 128 code points, each of four bytes', async () => {
    const item = await newItem({ id: '\u{1f600}'.repeat(128) });
    expectEnvelope(await item.remove(), 200);
  });
});
