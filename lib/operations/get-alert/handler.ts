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

const createGetAlert =
  ({ table }: Pick<Deps, 'table'>) =>
  async ({ body: { alert_id: alertId }, caller: { accountId }, signal }: Call<RequestOf<typeof getAlert>>) => {
    const own = withSignal(table, signal);
    const row = await getRow(own, keys.alert(accountId, alertId));
    if (!row) throw refusal('alertNotFound', { alertId });
    return { data: alertItemOf(accountId, row, await readIncidentTitles(own, accountId, [row])) };
  };

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(getAlert, { validate, operate: createGetAlert(deps) }, deps);
