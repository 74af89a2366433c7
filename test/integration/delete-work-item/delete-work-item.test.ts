/** What a deletion stores and refuses. The contract has its answers, and `schedules/ingest-records` what faults and other writers may do. */
import { randomUUID } from 'node:crypto';
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../../lib/http/app-keys.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { type Int64, stringifyJson } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { restoreWorkItem } from '../../../packages/admin/incidents/restore-work-item.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { intercepted } from '../../support/faults.ts';
import { callAlone, createHandlers, NOW, newTable, put, stored, testDeps } from '../../support/service.ts';

/** A version that a double cannot hold. */
const BIG = 9_007_199_254_740_993n;
const table = await newTable();

/** A new account with a work item, by default at version 3, and functions over `connection` whose clock stands still. */
async function newItem(fields: Record<string, unknown> = {}, connection = table) {
  const { account, appKey } = await newCaller(table);
  const clock = { now: NOW };
  const handlers = createHandlers(testDeps(connection, { now: () => clock.now }));
  const [id, title] = [randomUUID(), 'Replace the disk'];
  const key = keys.workItem(account, id);
  await put(table, key, { work_item_id: id, version: 3, title, assignee: { name: 'Ada' }, ...fields });
  return {
    ...{ appKey, clock },
    row: () => stored(table, key),
    put: async (changed: object) => put(table, key, { ...(await stored(table, key)), ...changed }),
    remove: (version: Int64 = 3) =>
      callAlone(handlers, deleteWorkItem, { appKey, rawBody: stringifyJson({ work_item_id: id, version }) }),
    restore: async () => expect(await restoreWorkItem(table, account, await stored(table, key))).toBe(true),
  };
}

it('a deletion records when, by which key and in which call, adds 1 to the version and keeps everything else', async () => {
  const item = await newItem({ version: BIG });
  const before = await item.row();
  const { body } = await item.remove(BIG);
  expect(body.data).toEqual({});
  const deleted_by = appKeyIdOf(hashAppKey(item.appKey));
  const mark = { deleted_at_ms: NOW, deleted_by, deleted_request_id: body.request_id };
  expect(await item.row()).toEqual({ ...before, ...mark, version: BIG + 1n });
  // Repeated by its caller, it succeeds and writes nothing.
  item.clock.now += 9_000;
  expectEnvelope(await item.remove(BIG), 200);
  expect(await item.row()).toMatchObject(mark);
});

it.each<[what: string, fields: Record<string, unknown>, version: number, code: string, message: RegExp]>([
  ['another version', {}, 2, 'InvalidParameter', /3, not 2/],
  ['an item without room for the deletion', { details: 'x'.repeat(409_410) }, 3, 'BadRequest', /[-\da-f]{36}/],
])('a deletion is refused and writes nothing: %s', async (_what, fields, version, code, message) => {
  const item = await newItem(fields);
  const before = await item.row();
  const answer = await item.remove(version);
  expectEnvelope(answer, 400, code);
  expect(answer.body.error.message).toMatch(message);
  expect(await item.row()).toEqual(before);
});

it.each([null, 'x', { version: '3' }, { version: 3, at_ms: NOW, by: 'another key' }])(
  'with an undone_deletion of %j, which is malformed or of another key, a deletion depends on its version alone',
  async (undone_deletion) => {
    const item = await newItem({ undone_deletion });
    expectEnvelope(await item.remove(2), 400, 'InvalidParameter');
    expectEnvelope(await item.remove(3), 200);
  },
);

it('a deletion that is undone before the SDK repeats its write is a success; later, its version is no longer current', async () => {
  let isRepeated = false;
  const connection = intercepted(table, async (send, { name }) => {
    const reply = await send();
    if (name !== 'UpdateCommand' || isRepeated) return reply;
    isRepeated = true;
    await item.restore();
    return send();
  });
  const item = await newItem({}, connection);
  expectEnvelope(await item.remove(), 200);
  expect(await item.row()).toMatchObject({ version: 5 });
  item.clock.now += 1;
  expectEnvelope(await item.remove(), 400, 'InvalidParameter');
  expectEnvelope(await item.remove(5), 200);
});

it('a request of a refused call that comes late, after the answer, deletes only what a record has given its version meanwhile', async () => {
  const requests: UpdateCommandInput[] = [];
  const connection = intercepted(table, (send, { name, input }) => {
    if (name === 'UpdateCommand') requests.push(structuredClone(input));
    return send();
  });
  const item = await newItem({}, connection);
  expectEnvelope(await item.remove(4), 400, 'InvalidParameter');
  const comesLate = () => table.client.send(new UpdateCommand(requests[0] as UpdateCommandInput));
  const before = await item.row();
  await expect(comesLate()).rejects.toThrow('conditional');
  expect(await item.row()).toEqual(before);
  await item.put({ version: 4 });
  await comesLate();
  expect(await item.row()).toMatchObject({ version: 5, deleted_at_ms: NOW });
  // From then on it finds another version, also after the deletion is undone.
  await item.restore();
  await expect(comesLate()).rejects.toThrow('conditional');
});
