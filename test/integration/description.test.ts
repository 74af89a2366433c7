import { gzipSync } from 'node:zlib';
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { beforeAll, describe, expect, it } from 'vitest';
import { gatewayResponses } from '../../infra/gateway-responses.ts';
import { type AnsweredCode, errorExamples, exampleData } from '../../infra/generate/examples.ts';
import { DEMO_KEYS, sampleData } from '../../infra/generate/sample.ts';
import { connectTable } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import type { Handler } from '../../lib/http/operation-handler.ts';
import {
  type ListedOperation,
  mergeAlerts,
  type OperationName,
  operationIdOf,
  operations,
} from '../../lib/http/operations.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { createLocalGatewayKeys } from '../../packages/admin/local-service/local-gateway-keys.ts';
import { expectEnvelope } from '../support/answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { document, expectDescribed } from '../support/openapi.ts';
import {
  type Answer,
  type EventOptions,
  eventFor,
  type Handlers,
  handlersOver,
  invoke,
  invokeAlone,
  newTable,
  put,
  testDeps,
} from '../support/service.ts';

/** The time of the examples' answers, and of the sample data. */
const NOW = 1_795_231_227_854;
const MAX_BODY_BYTES = 256 * 1024;

const table = await newTable();
await loadData(table, 'test', sampleData(NOW), { nowSeconds: 1, gatewayKeys: createLocalGatewayKeys(table) });
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

const handlerOf = ({ name }: ListedOperation, from: Handlers = handlers): Handler => from[operationIdOf(name)];

describe.each(operations)('the worked example of $name', (operation) => {
  it('is answered as it says', async () => {
    const { request } = operation.example;
    const data = exampleData(operation);
    const event = eventFor(operation, { appKey: DEMO_KEYS.demo, body: request });
    const answer = await invoke(handlerOf(operation), event);
    expectEnvelope(answer, 200);
    expectDescribed(operation, answer);
    // A cursor differs each time: it is encrypted with a random nonce.
    const steady = (value: unknown) =>
      value && typeof value === 'object' && 'next_cursor' in value ? { ...value, next_cursor: 'opaque' } : value;
    expect(steady(answer.body.data)).toEqual(steady(data));
  });
});

interface Call {
  options?: EventOptions;
  /** By default the handlers of the sample's table. */
  over?: () => Handlers;
  /** Calls the handler without a gateway. */
  alone?: true;
  /** Number of calls that are sent, and pass, before it. */
  before?: number;
}

/** Their table does not exist, an error that the service does not foresee. */
const broken = () => handlersOver(testDeps(connectTable({ name: 'no-such-table', endpoint: dynamodbEndpoint() })));
const down = () => handlersOver(testDeps(connectTable({ name: 't', endpoint: 'http://127.0.0.1:9' })));

const later = () => handlersOver(testDeps(table, { now: () => NOW + 3_600_000 }));
const compressed = gzipSync('{}').toString('base64');
const encoded = { rawBody: compressed, isBase64Encoded: true, headers: { 'Content-Encoding': 'gzip' } };
const { incident_id } = mergeAlerts.example.request;
const [LARGE_ALERT] = mergeAlerts.refusals[0].explanation.values.first;
const [{ id: MISSING_ALERT }] = mergeAlerts.refusals[1].explanation.values.first;

/** The call that leads to each error: one for every operation, or one for each that is named. */
const CALLS: Readonly<Record<AnsweredCode, Call | Partial<Record<OperationName, Call>>>> = {
  InvalidParameter: { options: { rawBody: '[]' } },
  InvalidContentType: { options: { rawBody: '{}', headers: { 'Content-Type': 'text/plain' } } },
  BadRequest: {
    'browse-fleet': { options: encoded, alone: true },
    'get-rum-resource': { options: encoded, alone: true },
    'delete-work-item': { options: { body: { work_item_id: 'wi-large', version: 1 } } },
    'merge-alerts': { options: { body: { alert_ids: [LARGE_ALERT], incident_id } } },
  },
  ResourceNotFound: {
    'get-rum-resource': { options: { appKey: DEMO_KEYS.withoutPermission } },
    'delete-work-item': { options: { body: { work_item_id: 'wi-none', version: 1 } } },
    'merge-alerts': { options: { body: { alert_ids: [MISSING_ALERT], incident_id } } },
  },
  Unauthorized: { options: { appKey: 'unknown' } },
  AccessDenied: { options: { appKey: DEMO_KEYS.withoutPermission } },
  EntityTooLarge: { options: { rawBody: ' '.repeat(MAX_BODY_BYTES + 1) } },
  // The other operations are throttled by the gateway, which answers itself.
  RequestTooFrequently: { 'browse-fleet': { over: later, before: 2 } },
  InternalError: { over: broken, alone: true },
  ServiceUnavailable: { over: down, alone: true },
};

const examples = operations.flatMap((operation) =>
  errorExamples(operation).flatMap(([code, { message }]) => {
    const calls = CALLS[code];
    const own = operations.some(({ name }) => name in calls);
    const call = own ? (calls as Partial<Record<OperationName, Call>>)[operation.name] : (calls as Call);
    return call ? [{ operation, name: operation.name, code, message, call }] : [];
  }),
);

describe('the worked example of an error', () => {
  beforeAll(async () => {
    const account = 1;
    const filler = (size: number) => ({ title: 'x'.repeat(size) });
    await put(table, keys.workItem(account, 'wi-large'), { work_item_id: 'wi-large', version: 1, ...filler(409_500) });
    await put(table, keys.alert(account, LARGE_ALERT), { alert_id: LARGE_ALERT, ...filler(409_500) });
  });

  it.each(examples)('is answered as it says: $name $code', async ({ operation, code, message, call: given }) => {
    const { options, over, alone, before = 0 } = given;
    const handler = handlerOf(operation, over?.());
    const body = { body: operation.example.request };
    const event = () => eventFor(operation, { appKey: DEMO_KEYS.demo, ...body, ...options });
    const call = (): Promise<Answer> => (alone ? invokeAlone(handler, event()) : invoke(handler, event()));
    for (let passed = 0; passed < before; passed += 1) expectEnvelope(await call(), 200);
    const answer = await call();
    expectDescribed(operation, answer);
    expect(answer.body.error).toEqual({ code, message });
    const shown = document.paths[operation.path].post.responses[answer.status].content['application/json'].examples;
    expect(shown[code].value.error).toEqual(answer.body.error);
  });

  it('is there for each code that an operation answers, and only for those', () => {
    for (const operation of operations) {
      const responses: Record<string, { content: { 'application/json': { examples?: object } } }> =
        document.paths[operation.path].post.responses;
      const shown = Object.values(responses).flatMap(({ content }) =>
        Object.keys(content['application/json'].examples ?? {}),
      );
      expect(shown.sort()).toEqual(
        errorExamples(operation)
          .map(([code]) => code as string)
          .sort(),
      );
    }
  });

  it('of a refusal by the usage plan has the words of the gateway', () => {
    const [, throttled] = errorExamples(mergeAlerts).find(([code]) => code === 'RequestTooFrequently') ?? [];
    const answer = gatewayResponses().find(({ type }) => type === ResponseType.THROTTLED);
    expect(JSON.stringify(answer?.templates)).toContain(throttled?.message);
  });
});
