/** Calls the service with openapi-fetch and the types that openapi-typescript generates. */
import createClient from 'openapi-fetch';
import type { components, paths } from './openapi-typescript.js';

type Host = components['schemas']['ServiceMapFleetHost'];
type Code = components['schemas']['ErrorCode'];
const { BASE_URL = '', APP_KEY = '' } = process.env;

const clientOf = (app_key: string) => {
  const client = createClient<paths>({ baseUrl: BASE_URL });
  // The key is a security scheme, which this generator leaves to the caller.
  client.use({ onRequest: ({ request }) => new Request(`${request.url}?app_key=${app_key}`, request) });
  return client;
};
const client = clientOf(APP_KEY);
const expectCode = (code: Code, error: components['schemas']['ErrorEnvelope'] | undefined) => {
  if (error?.error.code !== code) throw new Error(`expected ${code}, got ${error?.error.code}`);
};

const fleet = await client.POST('/monit/servicemap/fleet', { body: { limit: 1, statuses: ['stale'] } });
const host: Host | undefined = fleet.data?.data.items[0];
const rum = await client.POST('/rum/resource/info', { body: {} });
const deleted = await client.POST('/incident/work-item/delete', { body: { work_item_id: 'wi-1001', version: 1 } });
const alert_ids = (process.env.ALERTS ?? '').split(' ');
const incident_id = process.env.INCIDENT ?? '';
const header = { 'Idempotency-Key': 'openapi-fetch' };
const merged = await client.POST('/alert/merge', { body: { alert_ids, incident_id }, params: { header } });
if (host?.servicemap.status !== 'stale' || rum.data?.data.product !== 'rum' || !deleted.data || !merged.data)
  throw new Error('an answer is not as described');

expectCode('Unauthorized', (await clientOf('wrong').POST('/rum/resource/info', { body: {} })).error);
expectCode(
  'ResourceNotFound',
  (await client.POST('/incident/work-item/delete', { body: { work_item_id: 'none', version: 1 } })).error,
);
expectCode('InvalidParameter', (await client.POST('/alert/merge', { body: { alert_ids: [], incident_id } })).error);
