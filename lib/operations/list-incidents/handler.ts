import type { Deps } from '../../deps.ts';
import type { CrossCheck } from '../../http/body.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { Call, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import { withSignal } from '../../table/client.ts';
import { cursorsOf, spanErrors } from '../list-pages.ts';
import { readIncidents } from './read-incidents.ts';
import { listIncidents } from './schema.ts';
import validate from './validate-list-incidents.ts';

type ListRequest = RequestOf<typeof listIncidents>;
type ListResponse = ResponseOf<typeof listIncidents>;

const cursors = cursorsOf(listIncidents);

/** Rejects one time without the other, an end that is not after the start, and a cursor that was not issued to the account for this list. */
const crossCheck: CrossCheck<ListRequest> = (body, offending, event) => {
  if (offending.size > 0) return [];
  const errors = spanErrors(body, listIncidents.request);
  return errors.length > 0 ? errors : cursors.cursorErrors(body, event);
};

function createListIncidents({ table }: Pick<Deps, 'table'>) {
  return async function operate({ body, caller, signal }: Call<ListRequest>) {
    const after = cursors.placeBefore(body, caller);
    const page = await readIncidents(withSignal(table, signal), caller.accountId, body, after);
    const data: ListResponse = cursors.dataOf(page, body, caller);
    return { data };
  };
}

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(listIncidents, { validate, crossCheck, operate: createListIncidents(deps) }, deps);
