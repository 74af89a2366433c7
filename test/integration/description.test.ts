import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AnsweredCode, DOCUMENTATION, ERROR_EXAMPLES } from '../../infra/generate/examples.ts';
import { codesOf, openApiDocument } from '../../infra/generate/openapi.ts';
import { createLocalGatewayKeys } from '../../infra/local/gateway-keys.ts';
import { DEMO_KEYS, sampleData } from '../../infra/local/sample.ts';
import type { Handler } from '../../lib/api/operation-handler.ts';
import {
  browseFleet,
  deleteWorkItem,
  getRumResource,
  type ListedOperation,
  mergeAlerts,
  operationIdOf,
  operations,
} from '../../lib/api/operations.ts';
import { loadData } from '../../lib/data/load.ts';
import { int64Keyword, withInt64 } from '../../lib/int64-keyword.ts';
import { connectTable, type Table } from '../../lib/table/client.ts';
import { expectEnvelope } from '../support/answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { inlined } from '../support/openapi.ts';
import {
  type Answer,
  type EventOptions,
  eventFor,
  type Handlers,
  handlersOver,
  invoke,
  invokeAlone,
  newTable,
  testDeps,
} from '../support/service.ts';

const document = inlined(openApiDocument());
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addKeyword(int64Keyword);

/** When the examples were answered: also the time of the sample data. */
const NOW = 1_795_231_227_854;
const LARGEST_BODY = 256 * 1024;

let table: Table;
let handlers: Handlers;
beforeAll(async () => {
  table = await newTable();
  await loadData(table, 'test', sampleData(NOW), { nowSeconds: 1, gatewayKeys: createLocalGatewayKeys(table) });
  handlers = handlersOver(testDeps(table, { now: () => NOW }));
});

const handlerOf = ({ name }: ListedOperation, from: Handlers = handlers): Handler => from[operationIdOf(name)];

/** Only some answers of a response carry these. */
const SOMETIMES = (status: number) =>
  status < 500 ? ['idempotent-replayed'] : ['idempotent-replayed', /^(x-)?ratelimit/];

/** The answer has the headers and the body that the description declares for its status. */
function expectDescribed({ path }: ListedOperation, { status, headers, body }: Answer): void {
  const response = document.paths[path].post.responses[status];
  const validate = ajv.compile(withInt64(response.content['application/json'].schema) as object);
  expect(validate(body), ajv.errorsText(validate.errors)).toBe(true);
  const sent = Object.keys(headers).map((name) => name.toLowerCase());
  const always = Object.keys(response.headers)
    .map((name) => name.toLowerCase())
    .filter((name) => !SOMETIMES(status).some((one) => name.match(one)));
  expect(sent).toEqual(expect.arrayContaining(always));
}

describe.each(operations)('the worked example of $name', (operation) => {
  it('is answered as it says', async () => {
    const { request, data } = DOCUMENTATION[operation.name];
    const event = eventFor(operation, { appKey: DEMO_KEYS.demo, body: request });
    const answer = await invoke(handlerOf(operation), event);
    expectEnvelope(answer, 200);
    expectDescribed(operation, answer);
    // A cursor is encrypted with a random nonce.
    const steady = (value: unknown) =>
      value && typeof value === 'object' && 'next_cursor' in value ? { ...value, next_cursor: 'opaque' } : value;
    expect(steady(answer.body.data)).toEqual(steady(data));
  });
});

interface Call {
  operation: ListedOperation;
  options?: EventOptions;
  /** By default those over the sample. */
  over?: () => Handlers;
  /** Calls that pass before it. */
  before?: number;
}

/** The table is missing: what no code foresees. */
const broken = () => handlersOver(testDeps(connectTable({ name: 'no-such-table', endpoint: dynamodbEndpoint() })));
const down = () => handlersOver(testDeps(connectTable({ name: 't', endpoint: 'http://127.0.0.1:9' })));

const CALLS: Readonly<Record<AnsweredCode, Call>> = {
  InvalidParameter: { operation: mergeAlerts, options: { rawBody: '[]' } },
  InvalidContentType: {
    operation: mergeAlerts,
    options: { rawBody: '{}', headers: { 'Content-Type': 'text/plain' } },
  },
  ResourceNotFound: { operation: deleteWorkItem, options: { body: { work_item_id: 'wi-none', version: 1 } } },
  Unauthorized: { operation: getRumResource, options: { appKey: 'unknown' } },
  AccessDenied: { operation: browseFleet, options: { appKey: DEMO_KEYS.withoutPermission } },
  EntityTooLarge: { operation: mergeAlerts, options: { rawBody: ' '.repeat(LARGEST_BODY + 1) } },
  RequestTooFrequently: {
    operation: browseFleet,
    over: () => handlersOver(testDeps(table, { now: () => NOW + 3_600_000 })),
    before: 2,
  },
  InternalError: { operation: getRumResource, over: broken },
  ServiceUnavailable: { operation: getRumResource, over: down },
};

describe('the worked example of an error', () => {
  it.each(Object.keys(CALLS) as AnsweredCode[])('is answered as it says: %s', async (code) => {
    const { operation, options, over, before = 0 } = CALLS[code];
    const handler = handlerOf(operation, over?.());
    const event = () => eventFor(operation, { appKey: DEMO_KEYS.demo, ...options });
    // The gateway's own answers need no handler; those of a table that is not there come from the handler alone.
    const call = (): Promise<Answer> => (over ? invokeAlone(handler, event()) : invoke(handler, event()));
    for (let passed = 0; passed < before; passed += 1) expectEnvelope(await call(), 200);
    const answer = await call();
    expectDescribed(operation, answer);
    expect(answer.body.error).toEqual({ code, message: ERROR_EXAMPLES[code].message });
    const { examples } = document.paths[operation.path].post.responses[answer.status].content['application/json'];
    expect(examples[code].value.error).toEqual(answer.body.error);
  });

  it('is there for each code that an operation answers', () => {
    for (const operation of operations) {
      const responses: Record<string, { content: { 'application/json': { examples?: object } } }> =
        document.paths[operation.path].post.responses;
      const shown = Object.values(responses).flatMap(({ content }) =>
        Object.keys(content['application/json'].examples ?? {}),
      );
      expect(shown.sort()).toEqual(codesOf(operation).sort());
    }
  });
});
