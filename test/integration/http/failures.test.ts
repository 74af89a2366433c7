import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { operations } from '../../../lib/operations/index.ts';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { connectTable } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller, RUM_RECORD } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';
import { connectionLost } from '../../support/faults.ts';
import { newAccount } from '../../support/incidents.ts';
import { listen } from '../../support/listen.ts';
import {
  callAlone,
  callOperation,
  connectAgain,
  handlersOver,
  newTable,
  put,
  stored,
  testDeps,
} from '../../support/service.ts';
import { tapWire } from '../../support/wire.ts';
import { within } from '../../support/within.ts';

const table = await newTable();

describe('an unforeseen error', () => {
  it('is InternalError with a fixed text, which names no table, no host, no query and no stack', async () => {
    const deps = testDeps(connectTable({ name: 'no-such-table', endpoint: dynamodbEndpoint() }));
    const answer = await callAlone(handlersOver(deps), getRumResource, { appKey: 'secret-key' });
    expectEnvelope(answer, 500, 'InternalError');
    expect(answer.body.error.message).toBe('Internal error. Report it with the request_id.');
    expect(answer.headers).not.toHaveProperty('Retry-After');
    for (const leak of ['no-such-table', '127.0.0.1', 'ResourceNotFoundException', ' at ', 'secret-key'])
      expect(JSON.stringify(answer)).not.toContain(leak);
    expect(JSON.stringify(deps.log.lines)).not.toContain('secret-key');
  });

  it('is logged with its name and stack, but without its message', async () => {
    const connection = connectAgain(table);
    const { appKey } = await newCaller(table);
    const deps = testDeps(connection);
    tapWire(connection, async ({ command }, send) => {
      if (command.startsWith('Get')) return send();
      throw Object.assign(new Error('quotes the-input', { cause: 'the-input' }), {
        name: 'ValidationException',
        $metadata: { requestId: 'of AWS', attempts: 1 },
      });
    });
    const answer = await callAlone(handlersOver(deps), getRumResource, { appKey });
    expectEnvelope(answer, 500, 'InternalError');
    const fields = {
      ...{ request_id: answer.body.request_id, cause: 'bug', error_name: 'ValidationException' },
      error_stack: expect.toSatisfy((frames: string[]) => frames.every((frame) => frame.startsWith('at '))),
      ...{ aws_request_id: 'of AWS', attempts: expect.any(Number) },
    };
    const failed = deps.log.lines.filter(({ message }) => message === 'call failed');
    expect(failed).toEqual([{ level: 'error', message: 'call failed', fields }]);
    expect(JSON.stringify(deps.log.lines)).not.toContain('the-input');
  });

  it('is answered in the language of the caller, who may send several headers', async () => {
    const headers = { 'accept-language': ['qaa', 'zh-CN'] };
    const handlers = handlersOver(testDeps(connectTable({ name: 'no-such-table', endpoint: dynamodbEndpoint() })));
    const answer = await callAlone(handlers, getRumResource, { appKey: 'x', headers });
    expectEnvelope(answer, 500, 'InternalError');
    expect(answer.headers['Content-Language']).toBe('zh-CN');
  });
});

describe('a dependency', () => {
  const STARTS = ['from the start', 'once the key is known'] as const;
  it.each(
    operations
      .flatMap((operation) => STARTS.map((when) => ({ name: operation.name, operation, when })))
      .filter(({ operation, when }) => operation.tag !== 'Feed' || when === 'from the start'),
  )(
    'that is down $when makes $name answer ServiceUnavailable with Retry-After within 3 s',
    async ({ operation, when }) => {
      const connection = connectAgain(table);
      const { appKey } = await newCaller(table);
      const deps = testDeps(connection);
      const timeLimits = { ...deps.timeLimits };
      const handlers = handlersOver({ ...deps, timeLimits });
      const call = () => callAlone(handlers, operation, { appKey, body: operation.example.request });
      if (when === 'once the key is known') await call();
      Object.assign(timeLimits, TIME_LIMITS);
      const tap = tapWire(connection, async (attempt, send) => {
        attempt.redirect(9); // nobody listens there
        await send();
      });
      const answer = await within(3_000, call);
      expectEnvelope(answer, 503, 'ServiceUnavailable');
      expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
      expect(tap.attempts[0]?.body.includes('APP_KEY#')).toBe(when === 'from the start');
    },
  );
});

it('an outage costs at most three requests a call, and the first call after it succeeds', async () => {
  const connection = connectAgain(table);
  const { account, appKey } = await newCaller(table);
  await put(table, keys.rumResource(account), RUM_RECORD);
  const handlers = handlersOver(testDeps(connection));
  const read = () => callAlone(handlers, getRumResource, { appKey });
  expectEnvelope(await read(), 200);
  const outage = tapWire(connection, async () => {
    throw connectionLost();
  });
  for (let call = 0; call < 30; call += 1) expectEnvelope(await read(), 503, 'ServiceUnavailable');
  expect(outage.attempts.length).toBeLessThanOrEqual(30 * 3);
  outage.remove();
  expectEnvelope(await read(), 200);
});

describe('a reply that is not from DynamoDB', () => {
  const http = (status: string, body: string) =>
    `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

  it.each([
    ['no HTTP', 'garbage\r\n\r\n'],
    ['a head that is too large', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['a malformed chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['half of its JSON', http('200 OK', '{"Item":{"account_id":{"N":"1')],
    ['a page of a proxy', http('403 Forbidden', '<html>')],
    ['a proxy without a body', http('407 Proxy Authentication Required', '')],
    ['a redirection', http('301 Moved Permanently', '')],
    ['a time-out of a proxy', http('408 Request Timeout', '')],
    ['expired credentials', http('400 Bad Request', '{"__type":"com.amazon.coral.service#ExpiredTokenException"}')],
  ])('is ServiceUnavailable, not InternalError: %s', async (_name, reply) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(reply));
    });
    const table = connectTable({ name: 't', endpoint: `http://127.0.0.1:${await listen(server)}` });
    const answer = await callAlone(handlersOver(testDeps(table)), getRumResource, { appKey: 'x' });
    server.close();
    expectEnvelope(answer, 503, 'ServiceUnavailable');
  });
});

it('while writes are frozen, deletions and merges are refused with Retry-After and change nothing, and reads go on', async () => {
  const tenant = await newAccount(table);
  const { appKey, account } = tenant;
  const [to, alerts] = [await tenant.incident(), await tenant.alerts(2)];
  const item = { work_item_id: 'w', version: 1, title: 't' };
  await put(table, keys.workItem(account, 'w'), item);
  await put(table, keys.rumResource(account), RUM_RECORD);
  const frozenHandlers = handlersOver(testDeps(table, { settings: { writesFrozen: true } }));

  for (const answer of [
    await callOperation(frozenHandlers, deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } }),
    await tenant.merge(frozenHandlers.mergeAlerts, { alert_ids: alerts, incident_id: to }),
  ]) {
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toBe('60');
  }
  expect(await stored(table, keys.workItem(account, 'w'))).toMatchObject(item);
  expect(await tenant.placements(alerts)).toEqual([undefined, undefined]);
  expect(await tenant.feed(to)).toEqual([]);

  expectEnvelope(await callOperation(frozenHandlers, getRumResource, { appKey, body: {} }), 200);
  expectEnvelope(await callOperation(frozenHandlers, browseFleet, { appKey, body: {} }), 200);
});
