import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { type Answer, data, refused } from '../answers.ts';
import { type ApiClient, DELETE, FLEET, MERGE, RUM } from '../api-client.ts';
import { all, NOT_SPECIFIED, type Requirements, todo } from '../requirement.ts';
import {
  INTERNAL_ERROR,
  localizesMessages,
  MISSING,
  namesEveryInvalidField,
  needsJson,
  needsKey,
  needsPermission,
  needsPost,
  onEach,
  RATE_LIMITED,
  refuses,
} from './common.ts';
import { deleteWorkItem, workItem } from './operations/delete-work-item.ts';
import { mergeAlerts } from './operations/merge-alerts.ts';

const UNKNOWN = '0'.repeat(24);

/** A success of each operation. Those that write are called only if there is data for them. */
async function successes(api: ApiClient): Promise<Answer[]> {
  const answers = [await api.page({ limit: 1 }), await api.rum()];
  if (!api.environment.dataSet) return answers;
  const { workItems, alerts, incidents } = api.environment.dataSet;
  const merge = { alert_ids: [alerts[0]], incident_id: incidents.target };
  return [...answers, await api.remove(workItems.deleted), await api.merge(merge)];
}

/** A failure of each kind that can be caused with nothing but a key. */
const failures = async (api: ApiClient) => [
  await api.rum({}, { as: null }),
  await api.rum({ no_cache: 'yes' }),
  await api.rum({}, { headers: { 'Content-Type': 'text/plain' } }),
  await api.remove(MISSING),
  await api.merge({ alert_ids: [UNKNOWN], incident_id: UNKNOWN }),
  await api.call('/no/such/path'),
  await api.call(RUM, undefined, { method: 'GET' }),
];

async function failsWithCodeAndMessage(api: ApiClient): Promise<void> {
  const error = { code: expect.any(String), message: expect.any(String) };
  for (const { body } of await failures(api)) expect(body).toStrictEqual({ request_id: expect.any(String), error });
}

export const overview = {
  'Lists the hosts of an account with their collection status, a page at a time': async (api) =>
    expect(data(await api.page({ limit: 1 })).items.length).toBeLessThanOrEqual(1),
  'Reads the RUM resource record': async (api) => data(await api.rum()),
  'Soft-deletes a work item': deleteWorkItem['POST /incident/work-item/delete soft-deletes a work item'],
  'Merges alerts into an incident, optionally changing its title and owner': mergeAlerts['data is null'],
  'Every operation is called with POST': needsPost,
  'Every operation is authenticated by the query parameter app_key': async (api) => {
    const { appKey } = api.environment;
    const headers = { app_key: appKey, Authorization: `Bearer ${appKey}`, Cookie: `app_key=${appKey}` };
    for (const { path } of api.operations)
      refused(await api.call(path, { app_key: appKey }, { as: null, headers }), 'Unauthorized');
  },
  'All bodies are JSON': async (api) => {
    await onEach(api, async ({ path }) => refused(await api.call(path, undefined, { raw: '{' }), 'InvalidParameter'));
    for (const { headers } of [...(await successes(api)), ...(await failures(api))])
      expect(headers.get('content-type') ?? '', 'Content-Type').toMatch(/^application\/json\b/);
  },
  'Envelope rule 1: a success has request_id and data, and no error': async (api) => {
    for (const { status, body } of await successes(api)) {
      expect(status).toBe(200);
      expect(body).toStrictEqual({ request_id: expect.any(String), data: body.data });
    }
  },
  'Envelope rule 2: a failure has request_id and error with code and message, and no data': failsWithCodeAndMessage,
  'Envelope rule 3: the header Svc-Request-Id is the request_id, and each call has its own': async (api) => {
    const answers = [...(await successes(api)), ...(await failures(api))];
    for (const { headers, body } of answers) expect(headers.get('svc-request-id')).toBe(body.request_id);
    expect(new Set(answers.map(({ body }) => body.request_id)).size, 'different request_ids').toBe(answers.length);
  },
  'Other operations of the service, and the other ServiceMap reads': todo('the contract does not describe them'),
} satisfies Requirements;

export const endpoints = {
  'All endpoints use POST': needsPost,
  'All endpoints use the content type application/json': needsJson,
  'All endpoints use the query parameter app_key': needsKey,
  'The path of the merge operation': todo(`${NOT_SPECIFIED}: ${MERGE}`),
} satisfies Requirements;

export const authentication = {
  'Rule 1: every call carries the query parameter app_key': needsKey,
  'Rule 2: keys are issued from the console': todo('the console is not part of this API; `npm run admin` issues them'),
  'Rule 2: a key grants the access of its account': async (api) => {
    const { account_id } = data(await api.rum());
    if (api.environment.tableAccess) expect(account_id).toBe(api.environment.tableAccess.account);
    data(await api.page({ limit: 1 }));
  },
  'Rule 3: a missing app_key is 401 Unauthorized': needsKey,
  'Rule 3: an invalid app_key is 401 Unauthorized': async (api) => {
    const randomKey = randomBytes(32).toString('base64url');
    for (const { path } of api.operations) refused(await api.call(path, {}, { as: randomKey }), 'Unauthorized');
    for (const as of ['x'.repeat(300), `${api.environment.appKey}x`])
      refused(await api.call(RUM, {}, { as }), 'Unauthorized');
  },
  'Rule 3: an expired app_key is 401 Unauthorized': async (api) => {
    for (const { path } of api.operations)
      refused(await api.call(path, {}, { as: api.need('expiredKey') }), 'Unauthorized');
  },
  'Rule 4: a caller without the permission gets 403 AccessDenied': needsPermission,
  'Rule 5: browsing the fleet needs Targets Read (monit)': needsPermission,
  'Rule 6: permissions of the other operations': todo(NOT_SPECIFIED),
} satisfies Requirements;

export const events = {
  'Events, webhooks and notifications; the shape of the merge feed entry': todo(NOT_SPECIFIED),
  'A merge records its comment on a feed entry': todo('checked in section 4.4'),
} satisfies Requirements;

export const errors = {
  'A failure is request_id and error with code and message': failsWithCodeAndMessage,
  'message is human-readable, in the language of Accept-Language': localizesMessages,
  'message may contain field names and ids': workItem['Identified by work_item_id, a string'],
  'error.code decides: it is the same in every language': localizesMessages,
  'OK: not returned on errors': async (api) => expect((await api.rum()).body.error?.code).not.toBe('OK'),
  'InvalidParameter, 400: a required parameter is missing or failed validation': all(
    refuses(DELETE, 'work_item_id', [undefined]),
    refuses(FLEET, 'limit', ['x']),
  ),
  'BadRequest, 400: such as a body with a Content-Encoding': async (api) => {
    const options = { raw: 'x', headers: { 'Content-Encoding': 'br' } };
    for (const path of [RUM, DELETE]) {
      const answer = await api.call(path, undefined, options);
      // API Gateway refuses codings that it does not know. What passes them on gets the answer of the function.
      const code = answer.body.error?.code === 'BadRequest' ? 'BadRequest' : 'InvalidParameter';
      refused(answer, code, 'Content-Encoding');
    }
  },
  'InvalidParameter names every wrong field, a cursor among them': namesEveryInvalidField,
  'InvalidContentType, 400: the content type is not application/json': needsJson,
  'ResourceNotFound: 400, not 404': async (api) => refused(await api.remove(MISSING), 'ResourceNotFound'),
  'Unauthorized, 401': needsKey,
  'AccessDenied, 403: authenticated, without the permission': needsPermission,
  'RouteNotFound, 404: the path is not a known route': async (api) => {
    for (const path of ['/', '/no/such/path', '/rum/resource', '/rum/resource/info/more', '/RUM/resource/info'])
      refused(await api.call(path), 'RouteNotFound');
  },
  'MethodNotAllowed, 405: the method is not allowed on a known path': needsPost,
  'EntityTooLarge, 413: the body exceeds the maximum': async (api) => {
    const raw = `{"x":"${'x'.repeat(3 * 1024 * 1024)}"}`;
    for (const path of [RUM, DELETE]) refused(await api.call(path, undefined, { raw }), 'EntityTooLarge');
  },
  'RequestTooFrequently, 429': RATE_LIMITED,
  'InternalError, 500': INTERNAL_ERROR,
  'ServiceUnavailable, 503: a dependency is unavailable': async (api) => {
    const url = await api.need('startDefective')('table');
    for (const { path } of api.operations)
      refused(await api.call(path, {}, { url, retried: [] }), 'ServiceUnavailable');
  },
  NoLicense: todo('reserved: no operation here is licensed'),
  ReferenceExist: todo('reserved: no deletion here is blocked by references'),
  BalanceNotEnough: todo('reserved: no operation here is billed'),
  UndonedOrderExist: todo('reserved: no operation here places orders'),
  RequestLocked: todo('reserved: no operation here is locked after failures'),
  RequestVerifyRequired: todo('reserved: no operation here asks for a second factor'),
  DangerousOperation: todo('reserved: no operation here asks for a second factor'),
} satisfies Requirements;

export const versioning = {
  'The interface description is at version 1.0.0': async (api) => {
    const { status, text } = await api.request('/openapi.json');
    expect(status).toBe(200);
    expect(JSON.parse(text).info.version).toBe('1.0.0');
  },
  'Paths have no version before them': async (api) => {
    for (const { path } of api.operations) refused(await api.call(`/v1${path}`), 'RouteNotFound');
  },
  'Deprecation and negotiation of versions': todo('the contract leaves it open'),
} satisfies Requirements;
