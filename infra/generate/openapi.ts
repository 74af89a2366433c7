/**
 * Describes the API as OpenAPI 3.1, from the list of operations, the schemas that validate, and the table of error codes:
 * `npm run openapi`. A test compares `openapi.json` with what this makes today.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ERROR_CODES, type ErrorCode } from '../../lib/api/errors.ts';
import { en } from '../../lib/api/messages/en.ts';
import { type Operation, operations } from '../../lib/api/operations.ts';

export const OPENAPI_FILE = new URL('../../openapi.json', import.meta.url);

const REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

/** Worked examples of each operation: a request, and what it is answered with. */
const EXAMPLES: Readonly<Record<string, { description: string; request: object; data: unknown }>> = {
  'browse-fleet': {
    description:
      'One page of hosts in ascending order of `host_id`, each with its status at `generated_at_ms`. All filters given must match; ' +
      'an empty one matches every host. A page ends when it is full, when `scan_limit` hosts were examined, or with the last host; ' +
      '`next_cursor` is there as long as hosts are left. When live status cannot be read the hosts come with what the inventory knows, ' +
      '`coverage.failed` counts them, and `partial` is true.\n\n' +
      'A call counts against the limits of 2 a second and 30 a minute once it has passed all other checks. The rate headers stand on ' +
      'every answer to a call that was counted (200, and 500 or 503 of the operation itself) and on the 429 of these limits, and on no ' +
      'other: the 429 of the usage plan (50 calls a second of an account to each operation) has `Retry-After` alone.',
    request: { limit: 1, statuses: ['degraded', 'stale'] },
    data: {
      items: [
        {
          host_id: 'fra-1-cache-0216',
          agent_version: '4.10.7',
          edge_cluster: 'fra-1',
          servicemap: {
            enabled: true,
            status: 'degraded',
            capability_status: 'running',
            capture_mode: 'ebpf',
            report_interval_ms: 30_000,
            snapshot_ready: true,
            authoritative: true,
            graph_available: true,
            freshness_status: 'fresh',
            max_age_ms: 21_658,
            observed_at_ms: 1_795_231_205_846,
            received_at_ms: 1_795_231_206_196,
            node_count: 15,
            edge_count: 30,
            reason_codes: ['snapshot_degraded'],
          },
        },
      ],
      coverage: {
        scanned: 7,
        matched: 1,
        returned: 1,
        failed: 0,
        states: { active: 0, degraded: 1, stale: 0, initializing: 0, disabled: 0, unsupported: 0, no_data: 0 },
      },
      partial: false,
      truncated: false,
      next_cursor: 'SSAMowHlNqTmsu2IPHdy42ZyYS0xLWNhY2hlLTAyMTY',
      generated_at_ms: 1_795_231_227_854,
    },
  },
  'get-rum-resource': {
    description:
      'The record may be as old as the header `Age` says, unless `no_cache` is true; the usage is read at every call.',
    request: { no_cache: true },
    data: {
      account_id: 1,
      product: 'rum',
      version: 'professional',
      status: 'enabled',
      offering_id: 30_211,
      order_id: 'ord-20260418-0017',
      resource_id: 'rum-1-primary',
      resource_name: 'Web and mobile',
      created_at: 1_777_087_135,
      updated_at: 1_794_971_935,
      window_start_time: 1_794_194_335,
      window_end_time: 1_796_786_335,
      'action.days': 30,
      'error.days': 30,
      'long_task.days': 15,
      'resource.days': 15,
      'session.days': 30,
      'view.days': 30,
      session_limit_reached: false,
      'session_investigate.free_cnt': 100_000,
      'session_investigate.used_cnt': 41_873,
      'session_measure.free_cnt': 500_000,
      'session_measure.used_cnt': 203_114,
      'session_replay.free_cnt': 20_000,
      'session_replay.used_cnt': 7_950,
    },
  },
  'delete-work-item': {
    description:
      'Applies when `version` is the stored version; the deletion adds 1 to it. Said again with the same version it succeeds and does nothing.',
    request: { work_item_id: 'wi-1001', version: 1 },
    data: {},
  },
  'merge-alerts': {
    description:
      "All of the alerts are moved or none, however many. The incident's feed gets one entry that tells where each came from. With an " +
      '`Idempotency-Key` a merge can be sent again for 24 hours without being done twice. After 503, or without an answer, the merge may have been done: ' +
      'send it again with the same key, and the answer tells.',
    request: {
      alert_ids: ['23a5a8cc741f9d42df78f93f', 'd3afd55730b974e815f545aa'],
      incident_id: '40637f096ece1da9c808ecde',
      comment: 'same cause',
    },
    data: null,
  },
};

/** What else there is to say about refusals of a status. */
const NOTES: Readonly<Record<number, readonly string[]>> = {
  413: ["Above about 4.5 MB the answer is API Gateway's own, and no envelope: go by the status."],
};

/** What an operation can be refused with. */
function codesOf({ permission, name }: Operation): ErrorCode[] {
  return [
    'InvalidParameter',
    'InvalidContentType',
    ...(name === 'browse-fleet' ? [] : (['ResourceNotFound'] as const)),
    'Unauthorized',
    ...(permission ? (['AccessDenied'] as const) : []),
    'EntityTooLarge',
    'RequestTooFrequently',
    'InternalError',
    'ServiceUnavailable',
  ];
}

const header = (description: string, schema: object = { type: 'string' }) => ({ description, schema });
const ref = (name: string) => ({ $ref: `#/components/headers/${name}` });
const RATE_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

function answers(operation: Operation): object {
  const { name, response, rateWindows } = operation;
  const limits = rateWindows ? Object.fromEntries(RATE_HEADERS.map((one) => [one, ref(one)])) : {};
  const always = { 'Svc-Request-Id': ref('Svc-Request-Id') };
  const ok = {
    description: 'Done.',
    headers: {
      ...always,
      ...limits,
      ...(name === 'get-rum-resource' && { Age: ref('Age') }),
      ...(operation.idempotent && { 'Idempotent-Replayed': ref('Idempotent-Replayed') }),
    },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['request_id', 'data'],
          properties: { request_id: { $ref: '#/components/schemas/RequestId' }, data: response },
        },
        example: { request_id: REQUEST_ID, data: EXAMPLES[name]?.data },
      },
    },
  };
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(operation)) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const refusals = [...byStatus].map(([status, codes]) => [
    String(status),
    {
      description: [...codes.map((code) => `\`${code}\`: ${en.codes[code]}`), ...(NOTES[status] ?? [])].join('\n\n'),
      headers: {
        ...always,
        'Content-Language': ref('Content-Language'),
        ...(status === 429 || status === 503 ? { 'Retry-After': ref('Retry-After') } : {}),
        ...(status === 429 || status >= 500 ? limits : {}),
      },
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['request_id', 'error'],
            properties: {
              request_id: { $ref: '#/components/schemas/RequestId' },
              error: {
                type: 'object',
                required: ['code', 'message'],
                properties: {
                  code: { type: 'string', enum: codes },
                  message: { type: 'string', description: 'A sentence for people, in the language asked for' },
                },
              },
            },
          },
          examples: Object.fromEntries(
            codes.map((code) => [
              code,
              { value: { request_id: REQUEST_ID, error: { code, message: en.codes[code] } } },
            ]),
          ),
        },
      },
    },
  ]);
  return { 200: ok, ...Object.fromEntries(refusals) };
}

function pathOf(operation: Operation): object {
  const { name, summary, permission, rateWindows, throttle, idempotent, request } = operation;
  return {
    operationId: name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    summary,
    description: EXAMPLES[name]?.description,
    tags: [name.includes('fleet') ? 'Monitoring' : name.includes('rum') ? 'RUM' : 'Incidents'],
    parameters: [
      { $ref: '#/components/parameters/AcceptLanguage' },
      ...(idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    requestBody: {
      required: 'required' in request,
      content: { 'application/json': { schema: request, example: EXAMPLES[name]?.request } },
    },
    responses: answers(operation),
    ...(permission && { 'x-permission': permission }),
    ...(rateWindows && { 'x-rate-limits': rateWindows }),
    'x-throttle': throttle,
  };
}

/** The document, as it is published. */
export function openApiDocument(): object {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const integer = { type: 'integer' };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Incident, monitoring and RUM service',
      version,
      description:
        'Four operations, all `POST` with a JSON body of at most 256 KB; no body counts as `{}` and needs no `Content-Type`. Each answer is an envelope: `request_id` and either `data` or `error`. ' +
        'Act on `error.code`; `error.message` is for people. Integers are exact over the int64 range.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '.', description: 'Where this document is served' }],
    tags: [
      { name: 'Monitoring', description: 'Hosts and the state of their network-topology collection' },
      { name: 'RUM', description: 'Real-user monitoring: plan, quotas, usage' },
      { name: 'Incidents', description: 'Alerts, incidents and work items' },
    ],
    security: [{ appKey: [] }],
    paths: Object.fromEntries(operations.map((operation) => [operation.path, { post: pathOf(operation) }])),
    components: {
      securitySchemes: {
        appKey: {
          type: 'apiKey',
          in: 'query',
          name: 'app_key',
          description: 'The key of an account, given once. Keep it out of logs: it is part of the address.',
        },
      },
      parameters: {
        AcceptLanguage: {
          name: 'Accept-Language',
          in: 'header',
          description: 'Language of `error.message`: `en` (default) or `zh-CN`',
          schema: { type: 'string' },
        },
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description:
            'Makes it safe to send the same merge again: 1 to 255 printable ASCII characters, kept for 24 hours. A body is the same when ' +
            'it means the same: ids without letter case, order and repetition, an empty title or comment as not given',
          schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
        },
      },
      headers: {
        'Svc-Request-Id': header('The `request_id` of the body'),
        'Content-Language': header('Language of `error.message`'),
        'Retry-After': header('Seconds to wait before sending the call again', integer),
        Age: header('Seconds since the record was read', integer),
        'Idempotent-Replayed': header('`true` when this very call was done before, and nothing was done now'),
        'X-RateLimit-Limit': header('Calls that the window nearest to its end of quota allows', integer),
        'X-RateLimit-Remaining': header('Calls that are left in it', integer),
        'X-RateLimit-Reset': header('Unix time in seconds at which it ends', integer),
        'RateLimit-Policy': header('All windows: their quota `q` and their length `w` in seconds'),
        RateLimit: header('All windows: what remains (`r`) and the seconds until each ends (`t`)'),
      },
      schemas: { RequestId: { type: 'string', description: 'Names the call in the logs' } },
    },
  };
}

/** A bound that a double does not hold is published exactly. */
export const openApiText = () =>
  `${JSON.stringify(openApiDocument(), undefined, 2).replace(/"x-maximum": "(\d+)"/g, '"maximum": $1')}\n`;

if (import.meta.main) writeFileSync(OPENAPI_FILE, openApiText());
