import type { Deps } from '../../deps.ts';
import type { Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import { answerOf, defined, secondsOf } from '../../model/fields.ts';
import { member } from '../../model/member.ts';
import { timeOf } from '../../model/order.ts';
import type { Int64 } from '../../shared/json.ts';
import type { Table } from '../../table/client.ts';
import { partitions } from '../../table/keys.ts';
import { createListHandler, hasText, type Page } from '../list-pages.ts';
import { readPartition } from '../list-rows.ts';
import { listMembers } from './schema.ts';
import validate from './validate-list-members.ts';

type ListRequest = RequestOf<typeof listMembers>;
type MemberItem = ResponseOf<typeof listMembers>['items'][number];

async function readMembers(
  table: Table,
  account_id: Int64,
  { limit, query }: ListRequest,
  after: string | undefined,
): Promise<Page<MemberItem>> {
  const hasQuery = query === undefined ? undefined : hasText(query);
  const { rows, next } = await readPartition(table, partitions.member(account_id), {
    limit,
    after,
    descending: false,
    fits: hasQuery && (({ name }) => hasQuery(name)),
  });
  const items = rows.map((row) => {
    const updated_at = row.row_order && secondsOf(timeOf(row.row_order));
    return defined({ account_id, ...answerOf(member.fields, row), updated_at }) as MemberItem;
  });
  return { items, next };
}

export const createHandler = (deps: Deps): Handler =>
  createListHandler(listMembers, { validate, read: readMembers }, deps);
