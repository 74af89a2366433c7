import type { RequestOf, ResponseOf } from '../../http/operation.ts';
import { answerOf, defined, secondsOf } from '../../model/fields.ts';
import { type IncidentRow, incident } from '../../model/incident.ts';
import { timeOf } from '../../model/order.ts';
import type { Int64 } from '../../shared/json.ts';
import type { Table } from '../../table/client.ts';
import { keys, partitions } from '../../table/keys.ts';
import { batchGet } from '../../table/read.ts';
import { hasText, type Page } from '../list-pages.ts';
import { readNamed, readPartition } from '../list-rows.ts';
import type { listIncidents } from './schema.ts';

type ListRequest = RequestOf<typeof listIncidents>;
type IncidentItem = ResponseOf<typeof listIncidents>['items'][number];

/** Whether an incident fits the filters; undefined: there are none. */
function filterOf({ query, start_time, end_time }: ListRequest): ((row: IncidentRow) => boolean) | undefined {
  if (query === undefined && start_time === undefined) return undefined;
  const hasQuery = query === undefined ? () => true : hasText(query);
  return ({ title, created_at_ms = Number.NaN }) => {
    const isCreatedThen =
      start_time === undefined ||
      (created_at_ms >= Number(start_time) * 1_000 && created_at_ms < Number(end_time) * 1_000);
    return isCreatedThen && hasQuery(title);
  };
}

/** A page of incidents. @param after the id after which it begins; undefined: the first page */
export async function readIncidents(
  table: Table,
  account: Int64,
  request: ListRequest,
  after: string | undefined,
): Promise<Page<IncidentItem>> {
  const { asc, incident_ids = [] } = request;
  const options = { limit: request.limit, after, fits: filterOf(request) };
  const isAfter = (id: string) => after === undefined || (asc ? id > after : id < after);
  const ids = [...new Set(incident_ids.map((id) => id.toLowerCase()))].filter(isAfter).sort();
  const named = (asc ? ids : ids.reverse()).map((id) => keys.incident(account, id));
  const { rows, next } =
    incident_ids.length > 0
      ? await readNamed(table, named, options)
      : await readPartition(table, partitions.incident(account), { ...options, descending: !asc });
  const owners = await readOwners(table, account, rows);
  return { items: rows.map((row) => itemOf(account, row, owners)), next };
}

type Owners = ReadonlyMap<Int64, NonNullable<IncidentItem['owner']>>;

async function readOwners(table: Table, account: Int64, incidents: readonly IncidentRow[]): Promise<Owners> {
  const ids = new Set(incidents.flatMap(({ owner_id }) => owner_id ?? []));
  const { rows } = await batchGet(
    table,
    [...ids].map((id) => keys.member(account, id)),
    { consistent: false, attributes: ['member_id', 'name'] },
  );
  return new Map([...rows.values()].map(({ member_id, name }) => [member_id, { member_id, member_name: name }]));
}

/** When the title or owner of an incident was last changed; undefined: no record or merge has told. */
export function changedAtMs({ title_order, owner_order }: IncidentRow): number | undefined {
  const changes = [title_order, owner_order].filter((order) => order !== undefined).map(timeOf);
  return changes.length === 0 ? undefined : Math.max(...changes);
}

function itemOf(account: Int64, row: IncidentRow, owners: Owners): IncidentItem {
  const { owner_id } = row;
  const item: { [Name in keyof IncidentItem]-?: IncidentItem[Name] | undefined } = {
    account_id: account,
    ...answerOf(incident.fields, row),
    owner_id: owner_id ?? 0,
    owner: owner_id === undefined ? undefined : owners.get(owner_id),
    updated_at: secondsOf(changedAtMs(row)),
  };
  return defined(item) as IncidentItem;
}
