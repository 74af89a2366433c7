import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../lib/auth/app-keys.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { deleteWorkItem } from '../../lib/http/operations.ts';
import type { Int64 } from '../../lib/shared/json.ts';
import { restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import { aroundCalls, losing } from '../support/faults.ts';
import { callOperation, connectAgain, handlersOver, newTable, put, stored, testDeps } from '../support/service.ts';
import { losingReply, tapWire } from '../support/wire.ts';

const NOW = 1_750_000_000_000;
const table = await newTable();
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

async function newItem(
  row: { version?: Int64; deleted_at_ms?: number; details?: string; undone_deletion?: unknown } = {},
) {
  const { account, appKey } = await newCaller(table);
  const id = randomUUID();
  const key = keys.workItem(account, id);
  await put(table, key, { work_item_id: id, version: 3, title: 'Replace the disk', assignee: { name: 'Ada' }, ...row });
  return {
    account,
    appKey,
    id,
    row: () => stored(table, key),
    key,
    remove: (version: unknown = 3, workItemId: unknown = id) =>
      callOperation(handlers, deleteWorkItem, {
        appKey,
        rawBody: `{"work_item_id":${JSON.stringify(workItemId)},"version":${version}}`,
      }),
  };
}

describe('deleting a work item', () => {
  it('whose row has no room for the deletion is BadRequest, and writes nothing', async () => {
    const item = await newItem({ details: 'x'.repeat(409_410) });
    const before = await item.row();
    const answer = await item.remove();
    expectEnvelope(answer, 400, 'BadRequest');
    expect(answer.body.error.message).toContain(item.id);
    expect(await item.row()).toEqual(before);
  });

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
    const body = { work_item_id: item.id, version: 3 };
    const answer = await callOperation(later, deleteWorkItem, { appKey: item.appKey, body });
    expectEnvelope(answer, 200);
    expect(answer.body.data).toEqual({});
    expect(await item.row()).toEqual(done);
  });

  it.each([
    [2, 3],
    [4, 3],
    [1, '9007199254740993'],
    ['9007199254740992', '9007199254740993'],
  ])('at version %s while %s is stored is InvalidParameter and gives both versions', async (given, version) => {
    const item = await newItem({ version: BigInt(version) });
    const before = await item.row();
    const answer = await item.remove(given);
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(answer.body.error.message).toContain(`which is ${version}, not ${given}.`);
    expect(await item.row()).toEqual(before);
  });

  it('works exactly with versions beyond 2^53', async () => {
    const item = await newItem({ version: 9_007_199_254_740_993n });
    expectEnvelope(await item.remove('9007199254740993'), 200);
    expect((await item.row()).version).toBe(9_007_199_254_740_994n);
    expectEnvelope(await item.remove('9007199254740993'), 200);
    expectEnvelope(await item.remove('9007199254740992'), 400, 'ResourceNotFound');
  });

  it.each([1, 2, 4, 5])('that was deleted at version 3 is not found at version %i', async (version) => {
    const item = await newItem({ version: 4, deleted_at_ms: NOW - 1 });
    const before = await item.row();
    expectEnvelope(await item.remove(version), 400, 'ResourceNotFound');
    expect(await item.row()).toEqual(before);
  });

  it('that is missing is not found, and nothing is written', async () => {
    const item = await newItem();
    const answer = await item.remove(3, 'no-such-item');
    expectEnvelope(answer, 400, 'ResourceNotFound');
    expect(answer.body.error.message).toBe('Work item no-such-item does not exist.');
    expect(await stored(table, keys.workItem(item.account, 'no-such-item'))).toBeUndefined();
  });

  it('that belongs to another account is answered as if it did not exist, at the stored version and at others', async () => {
    const [mine, theirs] = [await newItem(), await newItem()];
    const before = await theirs.row();
    for (const version of [3, 4]) {
      const answer = await mine.remove(version, theirs.id);
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
    expectEnvelope(await item.remove(3), 400, 'InvalidParameter');
    expectEnvelope(await item.remove(5), 200);
  });

  it.each([null, 'x', [[]], {}, { version: null }, { version: '4' }, { version: 4.5 }])(
    'whose row has an undone_deletion of %j, which another system wrote, goes by its version',
    async (undone_deletion) => {
      const item = await newItem({ undone_deletion });
      const before = await item.row();
      expectEnvelope(await item.remove(2), 400, 'InvalidParameter');
      expect(await item.row()).toEqual(before);
      expectEnvelope(await item.remove(3), 200);
    },
  );

  it('by 16 callers with one version: one deletes, all answer 200, and the version rose by one', async () => {
    const item = await newItem();
    const answers = await Promise.all(Array.from({ length: 16 }, () => item.remove()));
    for (const answer of answers) expectEnvelope(answer, 200);
    expect(await item.row()).toMatchObject({ version: 4, deleted_at_ms: NOW });
  });

  it('stays a success when the reply from DynamoDB is lost', async () => {
    const own = await newTable();
    const { appKey, account } = await newCaller(own);
    await put(own, keys.workItem(account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
    const tap = tapWire(
      own,
      losingReply(({ command }) => command.startsWith('Update')),
    );
    const body = { work_item_id: 'w', version: 1 };
    expectEnvelope(await callOperation(handlersOver(testDeps(own)), deleteWorkItem, { appKey, body }), 200);
    expect(tap.attempts.filter(({ command }) => command.startsWith('Update'))).toHaveLength(2);
    tap.remove();
    expect((await stored(own, keys.workItem(account, 'w'))).version).toBe(2);
  });

  it('whose write never reaches DynamoDB is ServiceUnavailable, although the table can be read', async () => {
    const item = await newItem();
    const before = await item.row();
    const own = connectAgain(table);
    aroundCalls(own, losing('Update'));
    const options = { appKey: item.appKey, body: { work_item_id: item.id, version: 3 } };
    const answer = await callOperation(handlersOver(testDeps(own)), deleteWorkItem, options);
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(await item.row()).toEqual(before);
  });

  it('stays a success if it is undone before the SDK retries it', async () => {
    const own = await newTable();
    const { appKey, account } = await newCaller(own);
    const key = keys.workItem(account, 'w');
    await put(own, key, { work_item_id: 'w', version: 1, title: 't' });
    const aside = connectAgain(own);
    const lose = losingReply(({ command }) => command.startsWith('Update'));
    tapWire(own, (attempt, send) =>
      lose(attempt, send).catch(async (error) => {
        if (error.code === 'ECONNRESET') await restoreWorkItem(aside, account, await stored(aside, key));
        throw error;
      }),
    );
    const ownHandlers = handlersOver(testDeps(own));
    const options = { appKey, body: { work_item_id: 'w', version: 1 } };
    expectEnvelope(await callOperation(ownHandlers, deleteWorkItem, options), 200);
    expect(await stored(aside, key)).not.toHaveProperty('deleted_at_ms');
    // Sent by its caller again, it is a call of its own.
    expect((await callOperation(ownHandlers, deleteWorkItem, options)).body.error.code).toBe('InvalidParameter');
  });

  it('takes an id of 128 code points, each of four bytes', async () => {
    const { account, appKey } = await newCaller(table);
    const id = '\u{1f600}'.repeat(128);
    await put(table, keys.workItem(account, id), { work_item_id: id, version: 1, title: 't' });
    const body = { work_item_id: id, version: 1 };
    expectEnvelope(await callOperation(handlers, deleteWorkItem, { appKey, body }), 200);
  });
});
