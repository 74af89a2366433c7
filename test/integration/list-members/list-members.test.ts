import { expect, it } from 'vitest';
import { listMembers } from '../../../lib/operations/list-members/schema.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { callAlone, handlersOver, newDouble, testDeps } from '../../support/service.ts';

const table = newDouble();
const handlers = handlersOver(testDeps(table));

it('the text that is sent is answered, and an empty one is refused', async () => {
  const { appKey } = await newCaller(table);
  const call = (text: string) => callAlone(handlers, listMembers, { appKey, body: { text } });
  expect(expectData(listMembers, await call('a'))).toEqual({ text: 'a' });
  expectEnvelope(await call(''), 400, 'InvalidParameter');
});
