/** `/member/list` on DynamoDB Local. */
import { expect, it } from 'vitest';
import { listMembers } from '../../../lib/operations/list-members/schema.ts';
import { expectData } from '../../support/answers.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newTable, testDeps } from '../../support/service.ts';

const SECOND = 1_795_000_000;
const table = await newTable();
const handlers = createHandlers(testDeps(table));

it('members have their exact ids, names and times, in the order of the text of their ids', async () => {
  const { account: account_id, appKey } = await newAccount(table);
  const list = async (body: object = {}) =>
    expectData(listMembers, await callAlone(handlers, listMembers, { appKey, body })).items;
  const names = new Map<number | bigint, string>([
    [9, 'Ada Okafor'],
    [10, 'Jonas'],
    [2n ** 63n - 1n, 'ÅDA'],
    [-5, 'Mei'],
  ]);
  const member = (member_id: number | bigint, name: string, at_ms: number) => ({
    ...{ kind: 'member', account_id, member_id, name, at_ms },
  });
  await ingestOver(table, () => SECOND * 1_000).send(
    ...[...names].map(([id, name]) => member(id, name, SECOND * 1_000 - 1)),
    member(9, 'Ada', SECOND * 1_000 - 5_000),
  );
  const items = [-5, 10, 9, 2n ** 63n - 1n].map((member_id) => ({
    ...{ account_id, member_id, member_name: names.get(member_id), updated_at: SECOND - 1 },
  }));
  expect(await list()).toEqual(items);
  expect(await list({ query: 'åD' })).toEqual(items.filter(({ member_name }) => member_name === 'ÅDA'));
});
