/** Calls of every operation. */
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../lib/operations/get-rum-resource/schema.ts';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { RUM_RECORD } from '../support/accounts.ts';
import { inventory } from '../support/fleet.ts';
import { newAccount } from '../support/incidents.ts';
import { type EventOptions, put } from '../support/service.ts';

/** A new account with a row of each kind that calls read, and calls of every operation on it. */
export async function newLoad(table: Table, alertCount: number) {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  await put(table, keys.rumResource(account), RUM_RECORD);
  await put(table, keys.host(account, 'h'), inventory());
  await put(table, keys.workItem(account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
  const incidents = [await tenant.incident(), await tenant.incident()];
  const alerts = await tenant.alerts(alertCount);
  return {
    tenant,
    incidents,
    alerts,
    /** A call of each operation. Every tenth merge has all alerts, the others five. */
    calls(random: () => number): [ListedOperation, EventOptions][] {
      const alert_ids = alerts.slice(0, random() < 0.1 ? alertCount : 5);
      const incident_id = incidents[random() < 0.5 ? 0 : 1];
      return [
        [browseFleet, { appKey, body: {} }],
        [getRumResource, { appKey, body: {} }],
        [deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } }],
        [mergeAlerts, { appKey, body: { alert_ids, incident_id } }],
      ];
    },
  };
}
