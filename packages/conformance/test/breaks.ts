/** Breaks of one rule each, and the sentence that must fail: its section, and how it begins. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson, stringifyJson } from '../../../lib/shared/json.ts';
import { FLEET, MERGE, RUM } from '../src/trial.ts';
import type { Break, Call, Reply } from './proxy.ts';

// biome-ignore-start lint/suspicious/noExplicitAny: a break changes whatever a call or an answer holds
type Any = any;

const bodyOf = ({ raw }: Call): Any => {
  try {
    return parseJson(raw.toString()) ?? {};
  } catch {
    return {};
  }
};
const has = (field: string) => (call: Call) => field in Object(bodyOf(call));
const withBody = (call: Call, more: object): Call => ({
  ...call,
  raw: Buffer.from(stringifyJson({ ...bodyOf(call), ...more })),
});
/** Changes calls that are so before they reach the service. */
const sends =
  (is: (call: Call) => unknown, change: (call: Call) => Call): Break =>
  (call, pass) =>
    pass(is(call) ? change(call) : call);
const body = (is: (call: Call) => unknown, more: (body: Any) => object): Break =>
  sends(is, (call) => withBody(call, more(bodyOf(call))));
/** Changes the answer. */
const answers =
  (change: (reply: Reply, call: Call) => unknown): Break =>
  async (call, pass) => {
    const reply = await pass(call);
    change(reply, call);
    return reply;
  };
const data = (change: (data: Any, call: Call) => unknown): Break =>
  answers((reply, call) => reply.body?.data && change(reply.body.data, call));
const page = (change: (page: Any, call: Call) => unknown): Break => data((of, call) => of.items && change(of, call));
const hosts = (change: (servicemap: Any) => unknown): Break =>
  page(({ items }) => items.forEach(({ servicemap }: Any) => void change(servicemap)));
/** Answers a refusal with another status and code. */
const refuses =
  (is: (call: Call, reply: Reply) => unknown, status: number, code: string): Break =>
  async (call, pass) => {
    const reply = await pass(call);
    const { request_id } = Object(reply.body);
    return is(call, reply) ? { ...reply, status, body: { request_id, error: { code, message: code } } } : reply;
  };
/** Answers a refusal with a success. */
const takes = (is: (call: Call, reply: Reply) => unknown): Break =>
  answers((reply, call) => {
    if (reply.status < 400 || !is(call, reply)) return;
    reply.status = 200;
    reply.body = { request_id: Object(reply.body).request_id, data: call.path === MERGE ? null : {} };
  });
const header = (name: string, change: (value: string, reply: Reply) => string | undefined): Break =>
  answers((reply, _call) => {
    const value = change(reply.headers[name] ?? '', reply);
    if (value === undefined) delete reply.headers[name];
    else reply.headers[name] = value;
  });
const failing = (change: (page: Any) => unknown): Break =>
  page((of) => of.items.some(({ servicemap }: Any) => servicemap.error_code) && change(of));
const keyed = (call: Call) => call.query.get('app_key');
const statusOf = (fresh: number): Break =>
  hosts((map) => {
    if (map.max_age_ms === undefined || map.report_interval_ms === undefined) return;
    map.freshness_status = Number(map.max_age_ms) <= fresh * Number(map.report_interval_ms) ? 'fresh' : 'stale';
  });
const typed = (call: Call, type = 'application/json'): Call => ({
  ...call,
  headers: { ...call.headers, 'content-type': type },
});
const raw = (text: string) => (call: Call) => ({ ...call, raw: Buffer.from(text) });
const english = (call: Call) => ({ ...call, headers: { ...call.headers, 'accept-language': 'en' } });

/** Cursors work for every account: one that is not the caller's leads to the first page. */
function foreignCursor(): Break {
  return async (call, pass) => {
    const reply = await pass(call);
    return reply.status === 400 && has('cursor')(call) ? pass(withBody(call, { cursor: '' })) : reply;
  };
}

/** The same answer to every call of a kind, as of a cache that never ends. */
function cached(nameOf: (call: Call) => string): Break {
  const kept = new Map<string, Reply>();
  return async (call, pass) => {
    if (call.path !== RUM) return pass(call);
    const reply = kept.get(nameOf(call)) ?? (await pass(call));
    kept.set(nameOf(call), reply);
    return { ...reply, headers: { ...reply.headers } };
  };
}

function repeatedIds(): Break {
  const ids = new Map<string, string>();
  return answers((reply, call) => {
    const name = `${call.path} ${call.raw} ${Math.floor(Date.now() / 10_000)}`;
    const id = ids.get(name) ?? reply.body.request_id;
    ids.set(name, id);
    reply.body.request_id = id;
    reply.headers['svc-request-id'] = id;
  });
}

const countsRefused: Break = async (call, pass) => {
  if (bodyOf(call).limit === 0) while ((await pass(withBody(call, { limit: 1 }))).status === 429) await sleep(300);
  return pass(call);
};

const DECISIONS = '10';
const BODY = 'A body is a JSON object';
const NULLS = 'null is not absence';
const RATES = 'Rate headers';
const LANGUAGES = 'Every refusal is localized';

export const BREAKS: readonly [name: string, section: string, begins: string, broken: Break][] = [
  ['the cursor of another account is taken', DECISIONS, 'A cursor of another', foreignCursor()],
  [
    'an empty cursor is refused',
    DECISIONS,
    'An empty cursor',
    refuses((c) => bodyOf(c).cursor === '', 400, 'InvalidParameter'),
  ],
  [
    'an empty filter matches nothing',
    DECISIONS,
    'An empty cursor',
    page((p, c) => {
      if (bodyOf(c).statuses?.length === 0) p.items = [];
    }),
  ],
  [
    'of several filters one counts',
    DECISIONS,
    'Filters are ANDed',
    body(
      (c) => has('statuses')(c) && has('edge_clusters')(c),
      () => ({ statuses: [] }),
    ),
  ],
  [
    'unknown matches nothing beside other modes',
    DECISIONS,
    'Filters are ANDed',
    body(
      (c) => bodyOf(c).capture_modes?.length > 1,
      ({ capture_modes: modes }) => ({ capture_modes: modes.filter((one: string) => one !== 'unknown') }),
    ),
  ],
  ['null is taken for absence', DECISIONS, NULLS, sends((c) => /null/.test(`${c.raw}`), raw('{"limit":1}'))],
  ['1.0 is refused', DECISIONS, NULLS, refuses((c) => /1\.0/.test(`${c.raw}`), 400, 'InvalidParameter')],
  ['1e1 is refused', DECISIONS, NULLS, refuses((c) => /1e1/.test(`${c.raw}`), 400, 'InvalidParameter')],
  ['unknown fields are refused', DECISIONS, 'Unknown fields', refuses(has('more'), 400, 'InvalidParameter')],
  ['fresh until 1.7 intervals', '2.2', 'freshness is fresh', statusOf(1.7)],
  ['fresh until 2.3 intervals', '2.2', 'freshness is stale', statusOf(2.3)],
  ['stale at exactly two intervals', DECISIONS, 'A host is fresh at exactly', statusOf(1.999_999_999)],
  [
    'fresh for an hour without an interval',
    '2.2',
    'freshness counts',
    hosts((map) => {
      if (map.report_interval_ms === undefined && map.max_age_ms < 3_600_000) map.freshness_status = 'fresh';
    }),
  ],
  [
    'a negative max_age_ms',
    '2.2',
    'max_age_ms',
    page((p) =>
      p.items.forEach(({ servicemap: map }: Any) => {
        if (map.max_age_ms !== undefined) map.max_age_ms = p.generated_at_ms - map.received_at_ms;
      }),
    ),
  ],
  [
    'generated_at_ms is 3 s ahead',
    '4.1',
    'generated_at_ms',
    page((p) => {
      p.generated_at_ms += 3_000;
    }),
  ],
  [
    'truncated when the scan ends on the last host',
    DECISIONS,
    'A scan that ends',
    page((p, c) => {
      if (p.coverage.scanned === bodyOf(c).scan_limit)
        Object.assign(p, { truncated: true, partial: true, truncation_reasons: ['scan_limit_reached'] });
    }),
  ],
  [
    'in an outage a host stays active',
    DECISIONS,
    'In an outage',
    failing((p) => {
      p.items[0].servicemap.status = 'active';
    }),
  ],
  ['no RUM record gives zeros', DECISIONS, 'RUM needs no', takes((c) => c.path === RUM)],
  [
    'RUM needs monit',
    DECISIONS,
    'RUM needs no',
    refuses((c, r) => c.path === RUM && r.status === 400, 403, 'AccessDenied'),
  ],
  ['Age is missing', DECISIONS, 'Age', header('age', () => undefined)],
  [
    'failed is always 0',
    '2.3',
    'failed',
    page((p) => {
      p.coverage.failed = 0;
    }),
  ],
  [
    'failed counts matching hosts alone',
    '2.3',
    'failed',
    page((p) => {
      p.coverage.failed = Math.min(p.coverage.failed, p.coverage.matched);
    }),
  ],
  [
    'partial is false in an outage',
    '4.1',
    'Rule 2: without',
    failing((p) => {
      p.partial = false;
    }),
  ],
  [
    'error_code is missing in an outage',
    '2.2',
    'error_code',
    hosts((map) => {
      delete map.error_code;
    }),
  ],
  [
    'an outage fails the request',
    '4.1',
    'Rule 2: without',
    refuses((_c, r) => r.body?.data?.items?.[0]?.servicemap.error_code, 503, 'ServiceUnavailable'),
  ],
  [
    'there is no cache',
    '4.2',
    'no_cache: false',
    body(
      (c) => c.path === RUM,
      () => ({ no_cache: true }),
    ),
  ],
  ['no_cache is ignored', '4.2', 'no_cache: false', cached((c) => `${keyed(c)}`)],
  ['the usage is cached', '4.2', 'no_cache concerns', cached((c) => `${keyed(c)}`)],
  ['request_id repeats for the same body', DECISIONS, 'The same call twice', repeatedIds()],
  [
    'a recorded comment is cut',
    DECISIONS,
    'A comment of 1024',
    body(has('comment'), ({ comment }) => ({ comment: comment.slice(0, 255) })),
  ],
  [
    'HEAD is answered',
    DECISIONS,
    'HEAD and OPTIONS',
    answers((r, c) => {
      if (c.method === 'HEAD') r.status = 200;
    }),
  ],
  [
    'OPTIONS is answered',
    DECISIONS,
    'HEAD and OPTIONS',
    answers((r, c) => {
      if (c.method === 'OPTIONS') r.status = 200;
    }),
  ],
  [
    'GET on an unknown path is 405',
    DECISIONS,
    'An unknown path',
    refuses((c, r) => c.method === 'GET' && r.status === 404, 405, 'MethodNotAllowed'),
  ],
  [
    'a body without a content type is taken',
    DECISIONS,
    'A body needs',
    sends(
      (c) => !c.headers['content-type'],
      (c) => typed(c),
    ),
  ],
  [
    'no body without a content type is refused',
    DECISIONS,
    'A body needs',
    refuses((c) => c.raw.length === 0 && !c.headers['content-type'], 400, 'InvalidContentType'),
  ],
  [
    'the key is taken from x-api-key',
    DECISIONS,
    'The key is taken',
    sends(
      (c) => c.headers['x-api-key'],
      (c) => ({ ...c, query: new URLSearchParams({ app_key: c.headers['x-api-key'] ?? '' }) }),
    ),
  ],
  [
    'app_key given twice is taken',
    DECISIONS,
    'The key is taken',
    sends(
      () => true,
      (c) => ({ ...c, query: new URLSearchParams([...c.query].slice(0, 1)) }),
    ),
  ],
  [
    'InvalidParameter alone is localized',
    DECISIONS,
    LANGUAGES,
    async (c, pass) => {
      const r = await pass(c);
      return r.body?.error?.code === 'InvalidParameter' ? r : pass(english(c));
    },
  ],
  [
    'q-values are ignored',
    DECISIONS,
    LANGUAGES,
    sends(
      (c) => c.headers['accept-language'],
      (c) => ({
        ...c,
        headers: { ...c.headers, 'accept-language': `${c.headers['accept-language']}`.split(/[;,]/)[0] ?? '' },
      }),
    ),
  ],
  ['Content-Language is missing', DECISIONS, LANGUAGES, header('content-language', () => undefined)],
  ['refused calls count against the limit', DECISIONS, RATES, countsRefused],
  ['X-RateLimit-Remaining is missing', DECISIONS, RATES, header('x-ratelimit-remaining', () => undefined)],
  [
    'X-RateLimit-Remaining is off by one',
    DECISIONS,
    RATES,
    header('x-ratelimit-remaining', (value) => String(Number(value) + 1)),
  ],
  [
    'another account’s work item is 403',
    DECISIONS,
    'Another account',
    refuses(
      (_c, r) => r.body?.error?.message.includes('certify-') && r.body.error.code === 'ResourceNotFound',
      403,
      'AccessDenied',
    ),
  ],
  [
    'another account’s work item is deleted',
    DECISIONS,
    'Another account',
    takes((c, r) => has('work_item_id')(c) && r.body?.error?.code === 'ResourceNotFound'),
  ],
  [
    'upper-case alert ids are refused',
    DECISIONS,
    'Alert ids count',
    refuses((c) => /[A-F]/.test(String(bodyOf(c).alert_ids)), 400, 'InvalidParameter'),
  ],
  [
    'Idempotency-Key is ignored',
    DECISIONS,
    'Idempotency-Key',
    sends(
      () => true,
      (c) => ({ ...c, headers: { ...c.headers, 'idempotency-key': crypto.randomUUID() } }),
    ),
  ],
  [
    'an empty title is refused',
    DECISIONS,
    'An empty title',
    refuses((c) => bodyOf(c).title === '', 400, 'InvalidParameter'),
  ],
  [
    'an unknown owner is dropped',
    DECISIONS,
    'An empty title',
    body(
      (c) => bodyOf(c).owner_id === 999_999,
      () => ({ owner_id: undefined }),
    ),
  ],
  [
    'the content type is checked before the key',
    DECISIONS,
    'The key is checked',
    refuses((c) => c.headers['content-type'] === 'text/plain', 400, 'InvalidContentType'),
  ],
  [
    'the body is checked before the key',
    DECISIONS,
    'The key is checked',
    refuses((c) => `${c.raw}` === '{', 400, 'InvalidParameter'),
  ],
  [
    'an expired key says so',
    DECISIONS,
    'An expired key',
    answers((r, c) => {
      if (r.status === 401 && keyed(c) !== 'unknown') r.body.error.message = 'The app_key has expired.';
    }),
  ],
  ['an array is taken as {}', DECISIONS, BODY, sends((c) => `${c.raw}` === '[]', raw('{}'))],
  ['bytes that are not UTF-8 are taken', DECISIONS, BODY, sends((c) => c.raw.includes(0xff), raw('{}'))],
  ['1 MiB is taken', DECISIONS, BODY, sends((c) => c.raw.length > 900_000, raw('{}'))],
  [
    'a trailing slash is 404',
    DECISIONS,
    'A trailing slash',
    refuses((c) => c.path.endsWith('/'), 404, 'RouteNotFound'),
  ],
  [
    'only the first wrong field is named',
    DECISIONS,
    'A refusal names',
    body(has('limit'), ({ limit }) => ({ limit, statuses: [], edge_clusters: [] })),
  ],
  ['Svc-Request-Id is another', '1', 'Envelope rule 3', header('svc-request-id', () => 'other')],
  [
    'a RUM field has another name',
    '2.4',
    'resource_name',
    data((of) => {
      delete of.resource_name;
    }),
  ],
  [
    'a RUM field is not declared',
    '1',
    'Reads the RUM',
    data((of) => {
      of.more = 1;
    }),
  ],
  [
    'a failure has no code',
    '7',
    'A failure is',
    answers((r) => {
      delete r.body?.error?.code;
    }),
  ],
  [
    'an answer is not JSON',
    '4.4',
    'data is null',
    answers((r) => {
      r.body = undefined;
    }),
  ],
  [
    'the status does not go with the code',
    '5',
    'Rule 3: an invalid',
    answers((r) => {
      if (r.status === 401) r.status = 403;
    }),
  ],
  ['any key is taken', '5', 'Rule 3: a missing', takes((_c, r) => r.status === 401)],
  ['hosts are in the wrong order', '2.1', 'host_id', page((p) => p.items.reverse())],
  [
    'a stale host is active',
    '3',
    'stale',
    hosts((map) => {
      if (map.status === 'stale') map.status = 'active';
    }),
  ],
  [
    'paths have a version',
    '9',
    'Paths have no version',
    sends(
      (c) => c.path.startsWith('/v1'),
      (c) => ({ ...c, path: c.path.slice(3) }),
    ),
  ],
  [
    'the window ends when it begins',
    '2.4',
    'window_end_time',
    data((of) => {
      of.window_end_time = of.window_start_time;
    }),
  ],
  [
    'nothing is known of a deleted work item',
    '3',
    'A deleted work item',
    refuses((c, r) => has('work_item_id')(c) && r.status === 200, 400, 'ResourceNotFound'),
  ],
  ['a cursor leads to the first page', '4.1', 'cursor: left out', body(has('cursor'), () => ({ cursor: '' }))],
  [
    'account_id is another',
    '2.4',
    'account_id',
    data((of) => {
      if (of.account_id) of.account_id = Number(of.account_id) + 1;
    }),
  ],
  [
    'every snapshot is fresh',
    '3',
    'freshness_status',
    hosts((map) => {
      if (map.freshness_status === 'stale') map.freshness_status = 'fresh';
    }),
  ],
  [
    'the retention of errors is that of actions',
    '2.4',
    'error.days',
    data((of) => {
      of['error.days'] = of['action.days'];
    }),
  ],
  ['a merge of no alerts is taken', '8', 'Merge alert_ids', takes((c) => bodyOf(c).alert_ids?.length === 0)],
  [
    '21 statuses are taken',
    '4.1',
    'statuses: the seven',
    body(
      (c) => bodyOf(c).statuses?.length === 21,
      () => ({ statuses: ['stale'] }),
    ),
  ],
  [
    'clusters that begin alike match',
    '4.1',
    'edge_clusters: exact',
    body(
      (c) => c.path === FLEET && bodyOf(c).edge_clusters?.[0] === 'core',
      () => ({ edge_clusters: ['core', 'core-b'] }),
    ),
  ],
];
// biome-ignore-end lint/suspicious/noExplicitAny: until here
