/**
 * The files of a new operation, by their paths. It reads the title of a work item of the sample data. `operation-name` and `operationName`
 * stand for its name, `SECTION` for the number of its section in the certificate. What is written is formatted.
 */
export const TEMPLATES: Readonly<Record<string, string>> = {
  'lib/operations/operation-name/schema.ts': `import { type Operation, THROTTLE } from '../../http/operation.ts';

export const operationName = {
  name: 'operation-name',
  method: 'POST',
  path: '/operation-name',
  summary: 'Read the title of a work item',
  description: 'A deleted work item does not exist.',
  tag: 'Incidents',
  throttle: THROTTLE,
  grants: [{ actions: ['GetItem'], on: ['appKey', 'workItem'] }],
  request: {
    title: 'OperationNameRequest', type: 'object', required: ['work_item_id'],
    properties: {
      work_item_id: { type: 'string', minLength: 1, maxLength: 128, description: 'The id of the work item' },
    },
  },
  response: {
    title: 'OperationNameResult', type: 'object', required: ['title'], additionalProperties: false,
    properties: { title: { type: 'string', description: 'The title of the work item' } },
  },
  example: { request: { work_item_id: 'wi-1002' }, data: { title: 'Roll back to 4.10.7' } },
  refusals: [
    { summary: 'It does not exist', explanation: { name: 'workItemNotFound', values: { workItemId: 'wi-none' } } },
  ],
} as const satisfies Operation;
`,
  'lib/operations/operation-name/handler.ts': `import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import { refusal } from '../../http/errors.ts';
import type { Call, Handler, RequestOf } from '../../http/operation.ts';
import { withSignal } from '../../table/client.ts';
import { keys } from '../../table/keys.ts';
import { getRow } from '../../table/read.ts';
import { operationName } from './schema.ts';
import validate from './validate-operation-name.ts';

const createOperationName = ({ table }: Deps) =>
  async ({ body: { work_item_id: workItemId }, caller, signal }: Call<RequestOf<typeof operationName>>) => {
    const row = await getRow(withSignal(table, signal), keys.workItem(caller.accountId, workItemId));
    if (!row || row.deleted_at_ms !== undefined) throw refusal('workItemNotFound', { workItemId });
    return { data: { title: row.title } };
  };

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(operationName, { validate, operate: createOperationName(deps) }, deps);
`,
  'functions/operation-name.ts': `import { createDeps } from '../lib/deps.ts';
import { createHandler } from '../lib/operations/operation-name/handler.ts';

export const handler = createHandler(await createDeps({ connections: 1 }));
`,
  'test/integration/operation-name/operation-name.test.ts': `import { expect, it } from 'vitest';
import { operationName } from '../../../lib/operations/operation-name/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { callAlone, handlersOver, newDouble, put, testDeps } from '../../support/service.ts';

it('the title of a work item is read, unless it is deleted', async () => {
  const table = newDouble();
  const { account, appKey } = await newCaller(table);
  const call = (body: object) => callAlone(handlersOver(testDeps(table)), operationName, { appKey, body });
  const row = { work_item_id: 'w', version: 3, title: 't' };
  await put(table, keys.workItem(account, 'w'), row);
  expect(expectData(operationName, await call({ work_item_id: 'w' }))).toEqual({ title: 't' });
  await put(table, keys.workItem(account, 'w'), { ...row, deleted_at_ms: 1 });
  expectEnvelope(await call({ work_item_id: 'w' }), 400, 'ResourceNotFound');
});
`,
  'packages/conformance/src/sections/operations/operation-name.ts': `import { refused } from '../../answers.ts';
import { object, text } from '../../contract.ts';
import type { OperationSection } from '../../requirement.ts';
import { INTERNAL_ERROR, MISSING, needsKey, RATE_LIMITED, refuses } from '../common.ts';

const PATH = '/operation-name';

export const section: OperationSection = {
  heading: '4.SECTION Read the title of a work item',
  path: PATH,
  data: object({ title: text }),
  requirements: {
    'work_item_id: required, 1 to 128 characters': refuses(PATH, 'work_item_id', [undefined, '', 7, 'x'.repeat(129)]),
    'ResourceNotFound if there is none in the account': async (api) =>
      refused(await api.call(PATH, { work_item_id: MISSING.work_item_id }), 'ResourceNotFound'),
    '401 Unauthorized': needsKey,
    '429 RequestTooFrequently': RATE_LIMITED,
    '500 InternalError': INTERNAL_ERROR,
  },
};
`,
};
