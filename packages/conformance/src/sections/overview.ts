import { expect } from 'vitest';
import { type Answer, data, refused } from '../answers.ts';
import { type ApiClient, MERGE, PATHS, RUM } from '../api-client.ts';
import { NOT_SPECIFIED, type Requirements, todo, withData } from '../requirement.ts';
import { MISSING, needsJson, needsKey, needsPost } from './common.ts';
import { deleteWorkItem } from './delete-work-item.ts';

const UNKNOWN = '0'.repeat(24);

/** A success of each operation; those that write only where there is data for them. */
async function successes(api: ApiClient): Promise<Answer[]> {
  const answers = [await api.page({ limit: 1 }), await api.rum()];
  if (!api.environment.entities) return answers;
  const { workItems, alerts, incidents } = api.environment.entities;
  const merge = { alert_ids: [alerts[0]], incident_id: incidents.target };
  return [...answers, await api.remove(workItems.deleted), await api.merge(merge)];
}

/** A failure of each kind that requires nothing but a key. */
const failures = async (api: ApiClient) => [
  await api.rum({}, { as: null }),
  await api.rum({ no_cache: 'yes' }),
  await api.rum({}, { headers: { 'Content-Type': 'text/plain' } }),
  await api.remove(MISSING),
  await api.merge({ alert_ids: [UNKNOWN], incident_id: UNKNOWN }),
  await api.call('/no/such/path'),
  await api.call(RUM, undefined, { method: 'GET' }),
];

export async function failsWithCodeAndMessage(api: ApiClient): Promise<void> {
  const error = { code: expect.any(String), message: expect.any(String) };
  for (const { body } of await failures(api)) expect(body).toStrictEqual({ request_id: expect.any(String), error });
}

export const overview = {
  'Lists the hosts of an account with their collection status, a page at a time': async (api) =>
    expect(data(await api.page({ limit: 1 })).items.length).toBeLessThanOrEqual(1),
  'Reads the RUM resource record': async (api) => data(await api.rum()),
  'Soft-deletes a work item': deleteWorkItem['POST /incident/work-item/delete soft-deletes a work item'],
  'Merges alerts into an incident, optionally changing its title and owner': withData(
    async (api, { alerts, incidents }) =>
      data(await api.merge({ alert_ids: [alerts[0]], incident_id: incidents.target })),
  ),
  'Every operation is called with POST': needsPost,
  'Every operation is authenticated by the query parameter app_key': async (api) => {
    const { appKey } = api.environment;
    const headers = { app_key: appKey, Authorization: `Bearer ${appKey}` };
    for (const path of PATHS) refused(await api.call(path, {}, { as: null, headers }), 'Unauthorized');
  },
  'All bodies are JSON': async (api) => {
    for (const path of PATHS) refused(await api.call(path, undefined, { raw: '{' }), 'InvalidParameter');
    for (const { headers } of [...(await successes(api)), ...(await failures(api))])
      expect(headers.get('content-type')).toMatch(/^application\/json\b/);
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
