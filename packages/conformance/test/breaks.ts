/** Services that break one rule each. Each key is the section and the beginning of the title of the requirement whose check must fail. */
import { setTimeout as sleep } from 'node:timers/promises';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { FLEET, MERGE, RUM } from '../src/api-client.ts';
import { CODES } from '../src/contract.ts';
import type { Break, Call, Reply } from './proxy.ts';

// biome-ignore-start lint/suspicious/noExplicitAny: a break changes whatever a call or an answer holds
type Any = any;
/** Fields to change; false: none. */
type Changes = Record<string, unknown> | false | undefined;

const withBody = (call: Call, changes: Changes): Call => ({
  ...call,
  raw: Buffer.from(stringifyJson({ ...call.body, ...changes })),
});

/** Changes some calls before they reach the service. */
const sends =
  (when: (call: Call) => unknown, changes: (call: Call) => Partial<Call>): Break =>
  (call, pass) =>
    pass(when(call) ? { ...call, ...changes(call) } : call);
const sendsBody = (when: (body: Any, call: Call) => unknown, changes: Changes | ((body: Any) => Changes)): Break =>
  sends(
    (call) => when(call.body, call),
    (call) => withBody(call, typeof changes === 'function' ? changes(call.body) : changes),
  );
const sendsRaw = (when: (call: Call) => unknown, text: string): Break =>
  sends(when, () => ({ raw: Buffer.from(text) }));

/** Changes some answers. */
const answers =
  (changes: (reply: Reply, call: Call) => Partial<Reply> | false | undefined): Break =>
  async (call, pass) => {
    const reply = await pass(call);
    return { ...reply, ...changes(reply, call) };
  };
const header = (name: string, changed: (value: string) => string | undefined): Break =>
  answers(({ headers }) => ({ headers: { ...headers, [name]: changed(headers[name] ?? '') } }));
const data = (changes: (data: Any, call: Call) => Changes): Break =>
  answers(({ body }, call) => {
    if (!body?.data) return;
    return { body: { ...body, data: { ...body.data, ...changes(body.data, call) } } };
  });
const page = (changes: (page: Any, call: Call) => Changes): Break =>
  data((fields, call) => fields.items && changes(fields, call));
const hosts = (changes: (servicemap: Any, page: Any) => Changes): Break =>
  page((found) => ({
    items: found.items.map((item: Any) => ({
      ...item,
      servicemap: { ...item.servicemap, ...changes(item.servicemap, found) },
    })),
  }));
const pageOfOutage = (changes: (page: Any) => Changes): Break =>
  page((found) => found.items.some(({ servicemap }: Any) => servicemap.error_code) && changes(found));

/** Answers some calls with an error, whatever the service answers. */
const refuses = (when: (call: Call, reply: Reply) => unknown, code = 'InvalidParameter'): Break =>
  answers((reply, call) => {
    const { request_id } = Object(reply.body);
    const body = { request_id, error: { code, message: code } };
    return when(call, reply) ? { status: CODES[code] ?? 500, body } : undefined;
  });
/** Answers some refused calls with a success. */
const accepts = (when: (call: Call, reply: Reply) => unknown): Break =>
  answers((reply, call) => {
    if (reply.status < 400 || !when(call, reply)) return;
    return { status: 200, body: { request_id: reply.body?.request_id, data: call.path === MERGE ? null : {} } };
  });

const codeOf = ({ body }: Reply) => body?.error?.code;

/** Sends a call whose cursor the service refuses again with an empty cursor, which stands for the first page. */
const acceptsForeignCursors: Break = async (call, pass) => {
  const reply = await pass(call);
  return reply.status === 400 && call.body.cursor ? pass(withBody(call, { cursor: '' })) : reply;
};

/** Repeats the first answer to each caller, like a cache whose entries never expire. */
function cachesRum(): Break {
  const cache = new Map<string | null, Reply>();
  return async (call, pass) => {
    if (call.path !== RUM) return pass(call);
    const key = call.query.get('app_key');
    const reply = cache.get(key) ?? (await pass(call));
    cache.set(key, reply);
    return reply;
  };
}

/** Gives the answers to identical calls the same request_id, for up to 10 s. */
function repeatsIds(): Break {
  const ids = new Map<string, string>();
  return answers(({ headers, body }, call) => {
    const name = `${call.path} ${call.raw} ${Math.floor(Date.now() / 10_000)}`;
    const request_id = ids.get(name) ?? body.request_id;
    ids.set(name, request_id);
    return { headers: { ...headers, 'svc-request-id': request_id }, body: { ...body, request_id } };
  });
}

/** Before each call with `limit: 0`, which the service refuses without counting it, sends a call that it counts. */
const countsRefused: Break = async (call, pass) => {
  if (call.body.limit === 0) while ((await pass(withBody(call, { limit: 1 }))).status === 429) await sleep(300);
  return pass(call);
};

const localizesOneCode: Break = async (call, pass) => {
  const reply = await pass(call);
  const inEnglish = { ...call, headers: { ...call.headers, 'accept-language': 'en' } };
  return codeOf(reply) === 'InvalidParameter' ? reply : pass(inEnglish);
};

const freshUntil = (intervals: number) =>
  hosts(({ max_age_ms: age, report_interval_ms: interval }) => {
    if (age === undefined || interval === undefined) return;
    return { freshness_status: Number(age) <= intervals * Number(interval) ? 'fresh' : 'stale' };
  });

export const BREAKS: Readonly<Record<string, Readonly<Record<string, Break>>>> = {
  '1 Envelope rule 3': { 'Svc-Request-Id is not the request_id': header('svc-request-id', () => 'other') },
  '1 Reads the RUM': { 'a RUM field is undeclared': data(() => ({ more: 1 })) },
  '2.1 host_id': { 'hosts are in the wrong order': page(({ items }) => ({ items: items.toReversed() })) },
  '2.2 freshness is fresh': { 'fresh until 1.7 intervals': freshUntil(1.7) },
  '2.2 freshness is stale': { 'fresh until 2.3 intervals': freshUntil(2.3) },
  '2.2 freshness assumes': {
    'fresh for an hour without an interval': hosts(
      ({ report_interval_ms, max_age_ms }) =>
        report_interval_ms === undefined && max_age_ms < 3_600_000 && { freshness_status: 'fresh' },
    ),
  },
  '2.2 max_age_ms': {
    'a negative max_age_ms': hosts(
      ({ max_age_ms, received_at_ms }, { generated_at_ms }) =>
        max_age_ms !== undefined && { max_age_ms: generated_at_ms - received_at_ms },
    ),
  },
  '2.2 error_code': { 'error_code is missing in an outage': hosts(() => ({ error_code: undefined })) },
  '2.3 failed': {
    'failed is always 0': page(({ coverage }) => ({ coverage: { ...coverage, failed: 0 } })),
    'failed counts only matching hosts': page(({ coverage }) => ({
      coverage: { ...coverage, failed: Math.min(coverage.failed, coverage.matched) },
    })),
  },
  '2.4 resource_name': { 'a RUM field has another name': data(() => ({ resource_name: undefined })) },
  '2.4 window_end_time': {
    'the window ends when it begins': data(({ window_start_time: start }) => start && { window_end_time: start }),
  },
  '2.4 account_id': {
    'account_id is that of another account': data(({ account_id: id }) => id && { account_id: Number(id) + 1 }),
  },
  '2.4 error.days': {
    'the retention of errors is that of actions': data((record) => ({ 'error.days': record['action.days'] })),
  },
  '3 stale': { 'a stale host is active': hosts(({ status }) => status === 'stale' && { status: 'active' }) },
  '3 A deleted work item': {
    'the service forgets a deleted work item': refuses(
      ({ body }, { status }) => body.work_item_id && status === 200,
      'ResourceNotFound',
    ),
  },
  '3 freshness_status': {
    'every snapshot is fresh': hosts(
      ({ freshness_status }) => freshness_status === 'stale' && { freshness_status: 'fresh' },
    ),
  },
  '4.1 cursor: left out': {
    'a cursor leads to the first page': sendsBody(({ cursor }) => cursor, { cursor: '' }),
  },
  '4.1 statuses: the seven': {
    '21 statuses are accepted': sendsBody(({ statuses }) => statuses?.length === 21, { statuses: ['stale'] }),
  },
  '4.1 edge_clusters: exact': {
    'a cluster that begins with the value matches': sendsBody(
      ({ edge_clusters: clusters }, { path }) => path === FLEET && clusters?.[0] === 'core',
      { edge_clusters: ['core', 'core-b'] },
    ),
  },
  '4.1 generated_at_ms': {
    'generated_at_ms is 3 s ahead': page(({ generated_at_ms: at }) => ({ generated_at_ms: at + 3_000 })),
  },
  '4.1 Rule 2: without': {
    'partial is false in an outage': pageOfOutage(() => ({ partial: false })),
    'an outage fails the request': refuses(
      (_call, { body }) => body?.data?.items?.[0]?.servicemap.error_code,
      'ServiceUnavailable',
    ),
  },
  '4.2 no_cache: false': {
    'there is no cache': sendsBody((_body, { path }) => path === RUM, { no_cache: true }),
    'no_cache is ignored': cachesRum(),
  },
  '4.2 no_cache concerns': { 'the usage is cached': cachesRum() },
  '4.4 data is null': { 'an answer is not JSON': answers(() => ({ body: undefined })) },
  '5 Rule 3: an invalid': {
    'the status is not that of the code': answers(({ status }) => status === 401 && { status: 403 }),
  },
  '5 Rule 3: a missing': { 'any key is accepted': accepts((_call, { status }) => status === 401) },
  '7 A failure is': {
    'a failure has no code': answers(
      ({ body }) => body?.error && { body: { ...body, error: { ...body.error, code: undefined } } },
    ),
  },
  '8 Merge alert_ids': { 'a merge of no alerts is accepted': accepts(({ body }) => body.alert_ids?.length === 0) },
  '9 Paths have no version': {
    'paths with a version are accepted': sends(
      ({ path }) => path.startsWith('/v1'),
      ({ path }) => ({ path: path.slice(3) }),
    ),
  },
  '10 A cursor of another': { 'the cursor of another account is accepted': acceptsForeignCursors },
  '10 An empty cursor': {
    'an empty cursor is refused': refuses(({ body }) => body.cursor === ''),
    'an empty filter matches nothing': page((_page, { body }) => body.statuses?.length === 0 && { items: [] }),
  },
  '10 Filters are ANDed': {
    'only one of several filters counts': sendsBody(({ statuses, edge_clusters: clusters }) => statuses && clusters, {
      statuses: [],
    }),
    'unknown is ignored next to other modes': sendsBody(
      ({ capture_modes: modes }) => modes?.length > 1,
      ({ capture_modes: modes }) => ({ capture_modes: modes.filter((mode: string) => mode !== 'unknown') }),
    ),
  },
  '10 null is not absence': {
    'null is treated as absent': sendsRaw(({ raw }) => raw.includes('null'), '{"limit":1}'),
    '1.0 is refused': refuses(({ raw }) => raw.includes('1.0')),
    '1e1 is refused': refuses(({ raw }) => raw.includes('1e1')),
  },
  '10 Unknown fields': { 'unknown fields are refused': refuses(({ body }) => body.more) },
  '10 A host is fresh at exactly': { 'stale at exactly two intervals': freshUntil(1.999_999_999) },
  '10 A scan that ends': {
    'truncated when the scan ends on the last host': page(
      ({ coverage }, { body }) =>
        coverage.scanned === body.scan_limit && {
          truncated: true,
          partial: true,
          truncation_reasons: ['scan_limit_reached'],
        },
    ),
  },
  '10 In an outage': {
    'in an outage a host stays active': hosts(({ error_code }) => error_code && { status: 'active' }),
  },
  '10 RUM needs no': {
    'a missing RUM record is a success': accepts(({ path }) => path === RUM),
    'RUM needs monit': refuses(({ path }, { status }) => path === RUM && status === 400, 'AccessDenied'),
  },
  '10 Age': { 'Age is missing': header('age', () => undefined) },
  '10 The same call twice': { 'request_id repeats for the same body': repeatsIds() },
  '10 A comment of 1024': {
    'a recorded comment is cut': sendsBody(
      ({ comment }) => comment,
      ({ comment }) => ({ comment: comment.slice(0, 255) }),
    ),
  },
  '10 HEAD and OPTIONS': {
    'HEAD is answered': answers((_reply, { method }) => method === 'HEAD' && { status: 200 }),
    'OPTIONS is answered': answers((_reply, { method }) => method === 'OPTIONS' && { status: 200 }),
  },
  '10 An unknown path': {
    'GET on an unknown path is 405': refuses(
      ({ method }, { status }) => method === 'GET' && status === 404,
      'MethodNotAllowed',
    ),
  },
  '10 A body needs': {
    'a body without a content type is accepted': sends(
      ({ headers }) => !headers['content-type'],
      ({ headers }) => ({ headers: { ...headers, 'content-type': 'application/json' } }),
    ),
    'a request without body and content type is refused': refuses(
      ({ raw, headers }) => raw.length === 0 && !headers['content-type'],
      'InvalidContentType',
    ),
  },
  '10 The key is taken': {
    'the key is read from x-api-key': sends(
      ({ headers }) => headers['x-api-key'],
      ({ headers }) => ({ query: new URLSearchParams({ app_key: headers['x-api-key'] ?? '' }) }),
    ),
    'app_key given twice is accepted': sends(
      () => true,
      ({ query }) => ({ query: new URLSearchParams([...query].slice(0, 1)) }),
    ),
  },
  '10 Every refusal is localized': {
    'only InvalidParameter is localized': localizesOneCode,
    'q-values are ignored': sends(
      ({ headers }) => headers['accept-language'],
      ({ headers }) => ({
        headers: { ...headers, 'accept-language': headers['accept-language']?.split(/[;,]/)[0] ?? '' },
      }),
    ),
    'Content-Language is missing': header('content-language', () => undefined),
  },
  '10 Rate headers': {
    'refused calls count against the limit': countsRefused,
    'X-RateLimit-Remaining is missing': header('x-ratelimit-remaining', () => undefined),
    'X-RateLimit-Remaining is off by one': header('x-ratelimit-remaining', (value) => String(Number(value) + 1)),
  },
  '10 Another account': {
    'another account’s work item is 403': refuses(
      (_call, reply) => codeOf(reply) === 'ResourceNotFound' && reply.body.error.message.includes('certify-'),
      'AccessDenied',
    ),
    'another account’s work item is deleted': accepts(
      ({ body }, reply) => body.work_item_id && codeOf(reply) === 'ResourceNotFound',
    ),
  },
  '10 Alert ids': {
    'upper-case alert ids are refused': refuses(({ body }) => /[A-F]/.test(String(body.alert_ids))),
  },
  '10 Idempotency-Key': {
    'Idempotency-Key is ignored': sends(
      () => true,
      ({ headers }) => ({ headers: { ...headers, 'idempotency-key': crypto.randomUUID() } }),
    ),
  },
  '10 An empty title': {
    'an empty title is refused': refuses(({ body }) => body.title === ''),
    'an unknown owner is dropped': sendsBody(({ owner_id: owner }) => owner === 999_999, { owner_id: undefined }),
  },
  '10 The key is checked': {
    'the content type is checked before the key': refuses(
      ({ headers }) => headers['content-type'] === 'text/plain',
      'InvalidContentType',
    ),
    'the body is checked before the key': refuses(({ raw }) => raw.toString() === '{'),
  },
  '10 An expired key': {
    'the message says that a key has expired': answers(
      ({ status, body }, { query }) =>
        status === 401 &&
        query.get('app_key') !== 'unknown' && {
          body: { ...body, error: { ...body.error, message: 'The app_key has expired.' } },
        },
    ),
  },
  '10 A body is a JSON object': {
    'an array is treated as {}': sendsRaw(({ raw }) => raw.toString() === '[]', '{}'),
    'bytes that are not UTF-8 are accepted': sendsRaw(({ raw }) => raw.includes(0xff), '{}'),
    '1 MiB is accepted': sendsRaw(({ raw }) => raw.length > 900_000, '{}'),
  },
  '10 A trailing slash': {
    'a trailing slash is 404': refuses(({ path }) => path.endsWith('/'), 'RouteNotFound'),
  },
  '10 A refusal names': {
    'only the first wrong field is named': sendsBody(({ limit }) => limit !== undefined, {
      statuses: [],
      edge_clusters: [],
    }),
  },
};
// biome-ignore-end lint/suspicious/noExplicitAny: until here
