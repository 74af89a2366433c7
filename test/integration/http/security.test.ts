import { expect, it } from 'vitest';
import { sealCursor } from '../../../lib/operations/browse-fleet/browse.ts';
import { operations } from '../../../lib/operations/index.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller, RUM_RECORD } from '../../support/accounts.ts';
import { inventory } from '../../support/fleet.ts';
import { objectId } from '../../support/incidents.ts';
import { callAlone, handlersOver, NOW, put, testDeps } from '../../support/service.ts';
import { connectDouble } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';

const double = new TableDouble();
const table = connectDouble(async (request) => double.apply(request));
let clock = NOW;
const handlers = handlersOver(testDeps(table, { now: () => clock }));

/** A tenant with one entity of each kind, whose texts are `text`, and for each operation a body that names them. */
async function newTenant(text: string) {
  const { account, appKey } = await newCaller(table);
  const [incident, alert, workItem] = [objectId(), objectId(), objectId()];
  await put(table, keys.incident(account, incident), { incident_id: incident, title: text });
  await put(table, keys.alert(account, alert), { alert_id: alert, title: text });
  await put(table, keys.workItem(account, workItem), { work_item_id: workItem, version: 1, title: text });
  await put(table, keys.host(account, text), inventory());
  await put(table, keys.rumResource(account), { ...RUM_RECORD, resource_name: text });
  const cursor = sealCursor(Buffer.from(`secret of ${account}`), text);
  const bodies = {
    'browse-fleet': { cursor, account_id: account },
    'get-rum-resource': { account_id: account },
    'delete-work-item': { work_item_id: workItem, version: 1, account_id: account },
    'merge-alerts': { alert_ids: [alert], incident_id: incident, account_id: account },
    'send-records': { records: [{ kind: 'alert', source_id: 's', title: 't', account_id: account }] },
    'send-notification': { alerts: [], account_id: account },
  };
  return { appKey, bodies };
}

/** Every text of the other tenant contains this. The caller may know the ids of that tenant. */
const SECRET = 'belongs-to-the-other-tenant';
const [own, other] = [await newTenant('own'), await newTenant(SECRET)];
/** What is stored, but for the rate counts. */
const contents = () =>
  JSON.stringify(
    double.items().filter(({ pk }) => !String(pk).includes('#RATE#')),
    replaceExact,
  );
const replaceExact = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

it.each(operations)(
  '$name changes nothing and shows nothing of another tenant for the ids of that tenant’s entities',
  async (operation) => {
    const body = other.bodies[operation.name];
    const call = (appKey: string) => {
      clock += 1_000; // the rate limit's next second
      return callAlone(handlers, operation, { appKey, body });
    };
    // Now warm functions remember what belongs to the other tenant.
    if (operation.name === 'get-rum-resource' || operation.name === 'browse-fleet')
      expect((await call(other.appKey)).status).toBe(200);
    const before = contents();
    const answer = await call(own.appKey);
    const ignoresIds = ['get-rum-resource', 'send-notification'].includes(operation.name);
    expect(answer.status).toBe(ignoresIds ? 200 : 400);
    expect(answer.text).not.toContain(SECRET);
    expect(contents()).toBe(before);
  },
);
