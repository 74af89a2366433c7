import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createTurns } from '../../cli/certify/callers.ts';
import { entitiesOf, entityLines, fleetLines, linesText, rumLines } from '../../cli/certify/data.ts';
import { openLab } from '../../cli/certify/deployment.ts';
import type { Lab } from '../../cli/certify/lab.ts';
import { certify } from '../../cli/certify/run.ts';
import { SECTIONS } from '../../cli/certify/sections/index.ts';
import { createLocalGatewayKeys } from '../../infra/local/gateway-keys.ts';
import { type LocalService, startService } from '../../infra/local/service.ts';
import { loadData } from '../../lib/data/load.ts';
import { newAccountId } from '../support/accounts.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newAppKey, newTable } from '../support/service.ts';

interface Reply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a fault changes whatever the answer holds
  body: any;
}

/** What a fault makes of the service's answers. */
type Fault = (reply: Reply, path: string) => Partial<Reply> | undefined;

let service: LocalService;
let proxy: Server;
let lab: Lab;
let fault: Fault = () => undefined;

beforeAll(async () => {
  const table = await newTable();
  const nowMs = Date.now();
  const entities = entitiesOf('test');
  const callers = Array.from({ length: 6 }, () => ({ account: newAccountId(), appKey: newAppKey() }));
  const [main = { account: 0, appKey: '' }] = callers;
  const lines = [
    ...callers.flatMap(({ account, appKey }) => [
      { kind: 'account', account_id: account, name: 'Test', permissions: ['monit'] },
      { kind: 'app_key', account_id: account, app_key: appKey },
      ...fleetLines(account, nowMs),
    ]),
    ...rumLines(main.account, nowMs),
    ...entityLines(main.account, entities),
  ];
  const gatewayKeys = createLocalGatewayKeys(table);
  await loadData(table, 'test', linesText(lines).split('\n'), { nowSeconds: Math.floor(nowMs / 1000), gatewayKeys });
  const template = inject('template');
  service = await startService({ template, endpoint: dynamodbEndpoint(), tableName: table.name, port: 0 });
  proxy = startFaultyProxy(service.url);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  lab = { url, main, turns: createTurns(callers), entities, stored: { table, account: main.account } };
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await service.stop();
});

/** Passes calls on, and does to their answers what the fault says. */
function startFaultyProxy(target: string): Server {
  return createServer(async (incoming, outgoing) => {
    const { method, url = '/', headers: sent } = incoming;
    const { 'accept-encoding': _compressed, ...headers } = sent;
    const body = await text(incoming);
    const call = request(`${target}${url}`, { method, headers }, async (answer) => {
      const reply: Reply = {
        status: answer.statusCode ?? 0,
        headers: answer.headers as Record<string, string>,
        body: JSON.parse(await text(answer)),
      };
      const { 'content-length': _length, ...faulty } = { ...reply.headers, ...fault(reply, url)?.headers };
      const changed = { ...reply, ...fault(reply, url), headers: faulty };
      outgoing.writeHead(changed.status, changed.headers).end(JSON.stringify(changed.body));
    });
    call.end(body);
  });
}

/** The verdicts on these sentences, and the reasons of those that failed. */
async function verdicts(only: string[]): Promise<string[]> {
  const results = await certify(lab, SECTIONS, { only });
  return results.map(({ verdict, reason }) => (verdict === 'FAILED' ? `FAILED: ${reason}` : verdict));
}

const numberOf = (section: string, begins: string): string => {
  const { sentences = [] } = SECTIONS.find(({ number }) => number === section) ?? {};
  const index = sentences.findIndex((sentence) => sentence.text.startsWith(begins));
  if (index < 0) throw new Error(`no sentence of section ${section} begins with ${begins}`);
  return `${section}-${index + 1}`;
};

/** Changes the data of successes that have this field. */
const data = (field: string, change: (data: Reply['body']) => object): Fault => {
  return ({ body }) => (body.data && field in body.data ? { body: { ...body, data: change(body.data) } } : undefined);
};
const ofStatus = (status: number, change: (reply: Reply) => Partial<Reply>): Fault => {
  return (reply) => (reply.status === status ? change(reply) : undefined);
};

describe('the certificate', () => {
  it.each<[what: string, sentence: [section: string, begins: string], fault: Fault, reason: string]>([
    [
      'a request id in body and header that differ',
      ['1', 'Envelope rule 3'],
      () => ({ headers: { 'svc-request-id': 'other' } }),
      'Svc-Request-Id: expected',
    ],
    [
      'a field that is not declared',
      ['1', 'Reads the RUM'],
      data('resource_name', (record) => ({ ...record, more: 1 })),
      "the answer differs from the contract's tables: data/data must NOT have additional properties",
    ],
    [
      'a field that is missing',
      ['2.4', 'resource_name'],
      data('resource_name', ({ resource_name: _name, ...record }) => record),
      "must have required property 'resource_name'",
    ],
    [
      'a status that does not go with the code',
      ['5', 'Rule 3: an invalid'],
      ofStatus(401, () => ({ status: 403 })),
      'expected Unauthorized with 401, got 403',
    ],
    [
      'a key that is accepted',
      ['5', 'Rule 3: a missing'],
      ofStatus(401, ({ body }) => ({ status: 200, body: { request_id: body.request_id, data: {} } })),
      "the answer differs from the contract's tables",
    ],
    [
      'a deletion that is always done',
      ['4.3', 'version is that of'],
      ofStatus(400, ({ body }) => ({ status: 200, body: { request_id: body.request_id, data: {} } })),
      'expected 400 InvalidParameter, got 200',
    ],
    [
      'two hosts in the wrong order',
      ['2.1', 'host_id'],
      data('items', (page) => ({ ...page, items: page.items.toReversed() })),
      'certify-01-active: expected "certify-01-active", got "certify-14-no-data"',
    ],
    [
      'a status that is wrong',
      ['3', 'stale'],
      (reply) => ({ body: JSON.parse(JSON.stringify(reply.body).replace('"status":"stale"', '"status":"active"')) }),
      'status of stale: expected "stale", got "active"',
    ],
    [
      'an answer that is not JSON',
      ['4.4', 'data is null'],
      () => ({ body: undefined }),
      'the answer with status 200 is not JSON',
    ],
  ])('finds %s', async (_what, sentence, broken, reason) => {
    const number = numberOf(...sentence);
    fault = () => undefined;
    expect(await verdicts([number])).toEqual(['ok']);
    fault = broken;
    const [verdict] = await verdicts([number]);
    expect(verdict).toMatch(/^FAILED: /);
    expect(verdict).toContain(reason);
  });

  it.each([
    [
      'a key that is not accepted',
      { APP_KEY: 'wrong' },
      undefined,
      /^http\S+ does not accept this app key \(401\): check/,
    ],
    ['an empty key', { APP_KEY: '' }, undefined, /^The app key is empty: set APP_KEY/],
    ['data that was not imported', {}, 'other', /^The account has no unused data of run "other": import it/],
    ['nothing that answers', { URL: 'http://127.0.0.1:9' }, undefined, /^No answer from http:\/\/127\.0\.0\.1:9/],
  ])(
    'stops with one sentence at %s',
    async (_what, { URL = service.url, ...env }: NodeJS.ProcessEnv, run, sentence) => {
      await expect(openLab(URL, run, { APP_KEY: lab.main.appKey, ...env })).rejects.toThrow(sentence);
    },
  );

  it('shows without data what needs none, and skips the rest', async () => {
    fault = () => undefined;
    const smoke = await openLab(lab.url, undefined, { APP_KEY: lab.main.appKey });
    const results = await certify(smoke, SECTIONS, { only: ['2.1', '4.3', '8-1'] });
    expect(new Set(results.map(({ verdict }) => verdict))).toEqual(new Set(['ok', 'skipped', 'not shown']));
    expect(results.flatMap(({ calls }) => calls.filter((call) => / → 200/.test(call)))).toEqual([]);
  });

  it('skips what an account without the permission cannot show', async () => {
    fault = ofStatus(400, ({ body }) => ({
      status: 403,
      body: { ...body, error: { ...body.error, code: 'AccessDenied' } },
    }));
    const smoke = await openLab(service.url, undefined, { APP_KEY: lab.main.appKey });
    const results = await certify({ ...smoke, url: lab.url }, SECTIONS, { only: [numberOf('4.1', 'Rule 4: 400')] });
    expect(results).toMatchObject([{ verdict: 'skipped', reason: 'the account lacks the permission monit' }]);
  });

  it('has a number of its own for each sentence', async () => {
    const texts = SECTIONS.flatMap(({ number, sentences }) => sentences.map(({ text: words }) => `${number} ${words}`));
    expect(new Set(texts).size).toBe(texts.length);
  });
});
