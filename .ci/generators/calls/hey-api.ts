/** Calls the service with the client that @hey-api/openapi-ts generates. */
import { client } from './hey/client.gen.js';
import { browseFleet, deleteWorkItem, getRumResource, mergeAlerts } from './hey/sdk.gen.js';
import type { ErrorCode, ErrorEnvelope, ServiceMapFleetHost } from './hey/types.gen.js';

const { BASE_URL = '', APP_KEY = '' } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: () => APP_KEY });
const expectCode = (code: ErrorCode, error: ErrorEnvelope | undefined) => {
  if (error?.error.code !== code) throw new Error(`expected ${code}, got ${error?.error.code}`);
};

const fleet = await browseFleet({ body: { limit: 1, statuses: ['stale'] } });
const host: ServiceMapFleetHost | undefined = fleet.data?.data.items[0];
const rum = await getRumResource({ body: {} });
const deleted = await deleteWorkItem({ body: { work_item_id: 'wi-1001', version: 1 } });
const alert_ids = (process.env.ALERTS ?? '').split(' ');
const incident_id = process.env.INCIDENT ?? '';
const merged = await mergeAlerts({ body: { alert_ids, incident_id }, headers: { 'Idempotency-Key': 'hey-api' } });
if (
  host?.servicemap.status !== 'stale' ||
  rum.data?.data.product !== 'rum' ||
  !deleted.data ||
  merged.data?.data !== null
)
  throw new Error('an answer is not as described');

expectCode('Unauthorized', (await getRumResource({ body: {}, auth: () => 'wrong' })).error);
expectCode('ResourceNotFound', (await deleteWorkItem({ body: { work_item_id: 'none', version: 1 } })).error);
expectCode('InvalidParameter', (await mergeAlerts({ body: { alert_ids: [], incident_id } })).error);
