import { data, equal, holds, refused } from '../expect.ts';
import { NOT_SHOWN, open, section, shown, shownOnData } from '../sentence.ts';
import { DELETE_PATH, MERGE, PATHS, RUM, type Trial } from '../trial.ts';
import { MISSING } from './errors.ts';

const UNKNOWN = '0'.repeat(24);

/** A success of each operation; a deletion and a merge only where there is data for them. */
async function successes(t: Trial) {
  const answers = [await t.page({ limit: 1 }), await t.rum()];
  if (!t.lab.entities) return answers;
  const { workItems, alerts, incidents } = t.lab.entities;
  return [
    ...answers,
    await t.remove(workItems.overview),
    await t.merge({ alert_ids: [alerts[0]], incident_id: incidents.target }),
  ];
}

/** A failure of each kind that requires nothing but a key. */
const failures = async (t: Trial) => [
  await t.rum({}, { as: null }),
  await t.rum({ no_cache: 'yes' }),
  await t.rum({}, { headers: { 'Content-Type': 'text/plain' } }),
  await t.remove(MISSING),
  await t.merge({ alert_ids: [UNKNOWN], incident_id: UNKNOWN }),
  await t.call('/no/such/path'),
  await t.call(RUM, undefined, { method: 'GET' }),
];

export const overview = section('1', 'What the service does', [
  shown('Lists the hosts of an account with their collection status, a page at a time', async (t) => {
    const { items } = data(await t.page({ limit: 1 }));
    holds(items.length <= 1, 'a page of at most one host', items.length);
  }),
  shown('Reads the RUM resource record', async (t) => data(await t.rum())),
  shownOnData('Soft-deletes a work item', async (t, { workItems }) => {
    data(await t.remove(workItems.overview));
    refused(await t.remove({ ...workItems.overview, version: 2 }), 'ResourceNotFound');
  }),
  shown('Merges alerts into an incident, optionally changing its title and owner', async (t) => {
    const { alerts, incidents } = t.need('entities');
    equal(data(await t.merge({ alert_ids: [alerts[0]], incident_id: incidents.target })), null, 'data');
  }),
  shown('Every operation is called with POST', async (t) => {
    for (const path of PATHS)
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
        refused(await t.call(path, undefined, { method }), 'MethodNotAllowed');
  }),
  shown('Every operation is authenticated by the query parameter app_key', async (t) => {
    for (const path of PATHS) {
      const headers = { app_key: t.lab.main.appKey, Authorization: `Bearer ${t.lab.main.appKey}` };
      refused(await t.call(path, {}, { as: null, headers }), 'Unauthorized');
    }
  }),
  shown('All bodies are JSON', async (t) => {
    for (const path of PATHS) refused(await t.call(path, undefined, { raw: '{' }), 'InvalidParameter');
    for (const { headers } of [...(await successes(t)), ...(await failures(t))])
      holds(/^application\/json\b/.test(headers.get('content-type') ?? ''), 'JSON', headers.get('content-type'));
  }),
  shown('Envelope rule 1: a success has request_id and data, and no error', async (t) => {
    for (const { status, body } of await successes(t)) {
      equal(status, 200, 'status');
      equal(Object.keys(body).sort(), ['data', 'request_id'], 'fields');
      equal(typeof body.request_id, 'string', 'type of request_id');
    }
  }),
  shown('Envelope rule 2: a failure has request_id and error with code and message, and no data', async (t) => {
    for (const { body } of await failures(t)) {
      equal(Object.keys(body).sort(), ['error', 'request_id'], 'fields');
      equal(Object.keys(body.error).sort(), ['code', 'message'], 'fields of error');
    }
  }),
  shown('Envelope rule 3: the header Svc-Request-Id is the request_id, and each call has its own', async (t) => {
    const answers = [...(await successes(t)), ...(await failures(t))];
    for (const { headers, body } of answers) equal(headers.get('svc-request-id'), body.request_id, 'Svc-Request-Id');
    equal(new Set(answers.map(({ body }) => body.request_id)).size, answers.length, 'number of different request_ids');
  }),
  open('Other operations of the service, and the other ServiceMap reads', 'the contract does not describe them'),
]);

export const general = section('4', 'Endpoints', [
  shown('All endpoints use POST', async (t) => {
    for (const path of PATHS) {
      const { headers } = await t.call(path, undefined, { method: 'GET' });
      equal(headers.get('allow'), 'POST', `Allow of GET ${path}`);
      refused(await t.call(path, {}, { as: null }), 'Unauthorized');
    }
  }),
  shown('All endpoints use the content type application/json', async (t) => {
    for (const path of PATHS)
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
        refused(await t.call(path, {}, { headers: { 'Content-Type': type } }), 'InvalidContentType');
    for (const type of ['application/json', 'Application/JSON; charset=utf-8'])
      data(await t.rum({}, { headers: { 'Content-Type': type } }));
  }),
  shown('All endpoints use the query parameter app_key', async (t) => {
    for (const path of PATHS) refused(await t.call(path, {}, { as: null }), 'Unauthorized');
    for (const path of [DELETE_PATH, MERGE]) refused(await t.call(path, {}), 'InvalidParameter');
  }),
  open('The path of the merge operation', `${NOT_SHOWN}: ${MERGE}`),
]);
