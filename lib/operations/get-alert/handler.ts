import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import { refusal } from '../../http/errors.ts';
import type { Call, Handler, RequestOf } from '../../http/operation.ts';
import { withSignal } from '../../table/client.ts';
import { keys } from '../../table/keys.ts';
import { getRow } from '../../table/read.ts';
import { alertItemOf, readIncidentTitles } from '../alert-item.ts';
import { getAlert } from './schema.ts';
import validate from './validate-get-alert.ts';

type GetAlertCall = Call<RequestOf<typeof getAlert>>;

export function createHandler(deps: Deps): Handler {
  async function operate({ body: { alert_id: alertId }, caller: { accountId }, signal }: GetAlertCall) {
    const table = withSignal(deps.table, signal);
    const row = await getRow(table, keys.alert(accountId, alertId));
    if (!row) throw refusal('alertNotFound', { alertId });
    return { data: alertItemOf(accountId, row, await readIncidentTitles(table, accountId, [row])) };
  }
  return createOperationHandler(getAlert, { validate, operate }, deps);
}
