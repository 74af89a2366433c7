import type { Deps } from '../../deps.ts';
import type { CrossCheck } from '../../http/body.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { Call, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import { answerOf, defined, secondsOf } from '../../model/fields.ts';
import { member } from '../../model/member.ts';
import { timeOf } from '../../model/order.ts';
import { withSignal } from '../../table/client.ts';
import { partitions } from '../../table/keys.ts';
import { cursorsOf, hasText } from '../list-pages.ts';
import { readPartition } from '../list-rows.ts';
import { listMembers } from './schema.ts';
import validate from './validate-list-members.ts';

type ListRequest = RequestOf<typeof listMembers>;
type ListResponse = ResponseOf<typeof listMembers>;
type MemberItem = ListResponse['items'][number];

const cursors = cursorsOf(listMembers);

const crossCheck: CrossCheck<ListRequest> = (body, offending, event) =>
  offending.size > 0 ? [] : cursors.cursorErrors(body, event);

function createListMembers({ table }: Pick<Deps, 'table'>) {
  return async function operate({ body, caller, signal }: Call<ListRequest>) {
    const { accountId } = caller;
    const hasQuery = body.query === undefined ? undefined : hasText(body.query);
    const { rows, next } = await readPartition(withSignal(table, signal), partitions.member(accountId), {
      limit: body.limit,
      after: cursors.placeBefore(body, caller),
      descending: false,
      ...(hasQuery && { fits: ({ name }) => hasQuery(name) }),
    });
    const items = rows.map((row) => {
      const updated_at = row.row_order && secondsOf(timeOf(row.row_order));
      return defined({ account_id: accountId, ...answerOf(member.fields, row), updated_at }) as MemberItem;
    });
    const data: ListResponse = cursors.dataOf({ items, next }, body, caller);
    return { data };
  };
}

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(listMembers, { validate, crossCheck, operate: createListMembers(deps) }, deps);
