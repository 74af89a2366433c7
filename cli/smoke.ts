/** `npm run smoke -- --url URL`: checks a deployment, local or on AWS, against the contract, over HTTP alone. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { Command } from 'commander';
import {
  browseFleet,
  deleteWorkItem,
  getRumResource,
  mergeAlerts,
  type Operation,
  operations,
} from '../lib/api/operations.ts';
import { int64Keyword, withInt64 } from '../lib/int64-keyword.ts';
import { parseJson } from '../lib/json.ts';
import { accountId } from './arguments.ts';
import { explain } from './errors.ts';
import { CliError, UsageError } from './io.ts';
import { plainTable } from './output.ts';

/** What `--write` works on: throw-away data, put there by an operator. */
const THROW_AWAY = {
  workItem: 'smoke-work-item',
  incident: '5a0c0000000000000000000f',
  alerts: ['5a0c00000000000000000001', '5a0c00000000000000000002'],
};

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
  body: any;
}

interface Sent {
  operation?: Operation;
  path?: string;
  method?: string;
  key?: string | null;
  body?: unknown;
  raw?: string;
  headers?: Record<string, string>;
}

/** A rule of the contract that the deployment breaks. */
class Broken extends Error {}
/** A rule that this key, or this deployment, cannot show. */
class Skipped extends Error {}

function must(holds: unknown, rule: string): asserts holds {
  if (!holds) throw new Broken(rule);
}

function createChecks(url: string, appKey: string) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addKeyword(int64Keyword);

  async function send({
    operation,
    path,
    method = 'POST',
    key = appKey,
    body = {},
    raw,
    headers = {},
  }: Sent): Promise<Answer> {
    const address = new URL(`${url.replace(/\/$/, '')}${path ?? operation?.path}`);
    if (key !== null) address.searchParams.set('app_key', key);
    const payload = method === 'POST' ? { body: raw ?? JSON.stringify(body) } : {};
    const response = await fetch(address, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...payload,
    }).catch(() => {
      throw new CliError(`Nothing answers at ${address.origin}${address.pathname}: check --url.`);
    });
    const text = await response.text();
    let parsed: unknown;
    try {
      parsed = parseJson(text);
    } catch {
      throw new Broken(`the answer with status ${response.status} is no JSON`);
    }
    const answer = { status: response.status, headers: response.headers, body: parsed as Answer['body'] };
    must(typeof answer.body?.request_id === 'string', 'every answer has a request_id');
    must(
      answer.headers.get('svc-request-id') === answer.body.request_id,
      'Svc-Request-Id is the request_id of the body',
    );
    must('data' in answer.body !== 'error' in answer.body, 'an answer has either data or error');
    return answer;
  }

  /** Waits out the rate limit. */
  async function sendPatiently(sent: Sent): Promise<Answer> {
    for (;;) {
      const answer = await send(sent);
      if (answer.status !== 429) return answer;
      const seconds = Number(answer.headers.get('retry-after'));
      must(seconds >= 1 && seconds <= 60, 'a 429 says in Retry-After when to come back');
      await sleep(seconds * 1_000);
    }
  }

  async function refused(sent: Sent, status: number, code: string): Promise<Answer> {
    const answer = await sendPatiently(sent);
    must(
      answer.status === status && answer.body.error?.code === code,
      `${status} ${code}, not ${answer.status} ${answer.body.error?.code ?? 'data'}`,
    );
    must(typeof answer.body.error.message === 'string' && answer.body.error.message !== '', 'an error has a message');
    return answer;
  }

  async function done(operation: Operation, body: object, headers = {}): Promise<Answer> {
    const answer = await sendPatiently({ operation, body, headers });
    if (answer.body.error?.code === 'AccessDenied') throw new Skipped('the account lacks the permission');
    must(answer.status === 200, `200, not ${answer.status} ${answer.body.error?.code}`);
    const validate = ajv.compile(withInt64(operation.response) as object);
    must(validate(answer.body.data), `data is as described: ${ajv.errorsText(validate.errors)}`);
    return answer;
  }

  const reading: Record<string, () => Promise<void>> = {
    'without a key: 401': async () =>
      void (await refused({ operation: getRumResource, key: null }, 401, 'Unauthorized')),
    'with an unknown key: 401': async () =>
      void (await refused(
        { operation: getRumResource, key: randomBytes(32).toString('base64url') },
        401,
        'Unauthorized',
      )),
    'a path that is none: 404': async () => void (await refused({ path: '/no/such/path' }, 404, 'RouteNotFound')),
    'another method: 405 with Allow': async () => {
      for (const operation of operations) {
        const { headers } = await refused({ operation, method: 'GET' }, 405, 'MethodNotAllowed');
        must(headers.get('allow') === 'POST', 'Allow: POST');
      }
    },
    'another content type: 400': async () => {
      for (const operation of operations)
        await refused({ operation, headers: { 'Content-Type': 'text/plain' } }, 400, 'InvalidContentType');
    },
    'a body that is no JSON: 400': async () => {
      for (const operation of operations) await refused({ operation, raw: '{' }, 400, 'InvalidParameter');
    },
    'a body of 300 KB: 413': async () =>
      void (await refused({ operation: getRumResource, raw: `{"x":"${'x'.repeat(300_000)}"}` }, 413, 'EntityTooLarge')),
    'a wrong field is named': async () => {
      const { body } = await refused({ operation: browseFleet, body: { limit: 0 } }, 400, 'InvalidParameter');
      must(body.error.message.includes('limit'), 'the message names limit');
    },
    'messages in Chinese': async () => {
      const { headers, body } = await refused(
        { operation: deleteWorkItem, body: {}, headers: { 'Accept-Language': 'zh-CN' } },
        400,
        'InvalidParameter',
      );
      must(
        headers.get('content-language') === 'zh-CN' && /\p{Script=Han}/u.test(body.error.message),
        'in Chinese, and said so',
      );
    },
    'the RUM resource': async () => {
      const answer = await sendPatiently({ operation: getRumResource });
      if (answer.body.error?.code === 'ResourceNotFound') throw new Skipped('the account has none');
      await done(getRumResource, { no_cache: true });
    },
    'a fleet page, with the limit in its headers': async () => {
      const { headers } = await done(browseFleet, { limit: 5 });
      for (const name of [
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'RateLimit-Policy',
        'RateLimit',
      ])
        must(headers.get(name), `the header ${name}`);
    },
    'pages follow each other, in order': async () => {
      const first = (await done(browseFleet, { limit: 2 })).body.data;
      if (!first.next_cursor) throw new Skipped('the fleet has one page');
      const second = (await done(browseFleet, { limit: 2, cursor: first.next_cursor })).body.data;
      const ids = [...first.items, ...second.items].map(({ host_id }: { host_id: string }) => host_id);
      const sorted = [...ids].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      must(new Set(ids).size === ids.length && ids.join() === sorted.join(), 'each host once, in ascending order');
    },
    'a cursor that is none: 400': async () =>
      void (await refused({ operation: browseFleet, body: { cursor: 'none' } }, 400, 'InvalidParameter')),
    'a work item that is none': async () =>
      void (await refused(
        { operation: deleteWorkItem, body: { work_item_id: 'smoke-none', version: 1 } },
        400,
        'ResourceNotFound',
      )),
    'alerts that are none': async () =>
      void (await refused(
        { operation: mergeAlerts, body: { alert_ids: ['0'.repeat(24)], incident_id: '0'.repeat(24) } },
        400,
        'ResourceNotFound',
      )),
    'too many calls: 429 with Retry-After': async () => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => send({ operation: browseFleet, body: { limit: 1 } })),
      );
      if (answers.some(({ body }) => body.error?.code === 'AccessDenied'))
        throw new Skipped('the account lacks the permission');
      const refusals = answers.filter(({ status }) => status === 429);
      must(refusals.length > 0, 'of twelve calls at once some are refused');
      for (const { headers, body } of refusals)
        must(
          body.error.code === 'RequestTooFrequently' && Number(headers.get('retry-after')) >= 1,
          'with code and Retry-After',
        );
    },
    'the description of the API': async () => {
      const response = await fetch(`${url.replace(/\/$/, '')}/openapi.json`);
      must(response.status === 200, `GET /openapi.json is 200, not ${response.status}`);
      const published = (await response.json()) as { paths?: object };
      const own = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));
      must(JSON.stringify(published) === JSON.stringify(own), 'it is that of this version');
    },
  };
  const writing: Record<string, () => Promise<void>> = {
    'a work item is deleted, once': async () => {
      const { body } = await sendPatiently({
        operation: deleteWorkItem,
        body: { work_item_id: THROW_AWAY.workItem, version: 1 },
      });
      if (body.error?.code === 'ResourceNotFound')
        throw new Skipped('no throw-away data: npm run smoke -- --data ACCOUNT | npm run admin -- import -');
      must(!body.error, `done, not ${body.error?.code}`);
      await done(deleteWorkItem, { work_item_id: THROW_AWAY.workItem, version: 1 });
      await refused(
        { operation: deleteWorkItem, body: { work_item_id: THROW_AWAY.workItem, version: 9 } },
        400,
        'ResourceNotFound',
      );
    },
    'alerts are merged, and sent again once': async () => {
      const request = { alert_ids: THROW_AWAY.alerts, incident_id: THROW_AWAY.incident, comment: 'smoke' };
      const headers = { 'Idempotency-Key': `smoke ${randomBytes(8).toString('hex')}` };
      const { body } = await sendPatiently({ operation: mergeAlerts, body: request, headers });
      if (body.error?.code === 'ResourceNotFound') throw new Skipped('no throw-away data');
      must(!body.error, `done, not ${body.error?.code}`);
      await done(mergeAlerts, request, headers);
      await refused(
        { operation: mergeAlerts, body: { ...request, comment: 'other' }, headers },
        400,
        'InvalidParameter',
      );
    },
  };
  return { reading, writing };
}

/** Asks for the key without showing it. */
async function askForKey(): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError('Say the key in the environment variable APP_KEY.');
  process.stderr.write('App key: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return (await prompt.question('')).trim();
  } finally {
    prompt.close();
    process.stderr.write('\n');
  }
}

function throwAwayData(account_id: unknown): string {
  const lines = [
    { kind: 'work_item', account_id, work_item_id: THROW_AWAY.workItem, version: 1, title: 'Smoke' },
    { kind: 'incident', account_id, incident_id: THROW_AWAY.incident, title: 'Smoke' },
    ...THROW_AWAY.alerts.map((alert_id) => ({ kind: 'alert', account_id, alert_id, title: 'Smoke' })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function smoke({ url, write, data }: { url?: string; write?: boolean; data?: number }): Promise<number> {
  if (data !== undefined) {
    process.stdout.write(throwAwayData(data));
    return 0;
  }
  if (url === undefined || !URL.canParse(url))
    throw new UsageError('Say which deployment: --url http://127.0.0.1:3000');
  const { reading, writing } = createChecks(url, process.env.APP_KEY ?? (await askForKey()));
  const rows: string[][] = [];
  for (const [name, check] of Object.entries({ ...reading, ...(write && writing) }))
    try {
      await check();
      rows.push(['ok', name, '']);
    } catch (error) {
      if (error instanceof Skipped) rows.push(['skipped', name, error.message]);
      else if (error instanceof Broken) rows.push(['BROKEN', name, error.message]);
      else throw error;
    }
  const count = (verdict: string) => rows.filter(([one]) => one === verdict).length;
  process.stdout.write(
    `${plainTable(rows)}\n\n${count('ok')} ok, ${count('skipped')} skipped, ${count('BROKEN')} broken\n`,
  );
  return count('BROKEN') === 0 ? 0 : 1;
}

const program = new Command('npm run smoke --')
  .description(
    'Check a deployment against the contract. The key comes from APP_KEY in the environment, or is asked for.',
  )
  .option('--url <url>', 'where it is served')
  .option('--write', 'also delete and merge throw-away data (put there with --data)')
  .option('--data <account>', 'print the throw-away data of an account, for `npm run admin -- import -`', accountId)
  .exitOverride();
try {
  process.exitCode = await smoke(program.parse().opts());
} catch (error) {
  const { line, exitCode } = explain(error, false);
  if (line !== '') process.stderr.write(`${line}\n`);
  process.exitCode = exitCode;
}
