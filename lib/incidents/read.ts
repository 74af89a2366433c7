/** Incidents, their feeds and alerts as an operator looks at them. */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Row } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { collections, type Key, keys, parseKey } from '../table/keys.ts';
import { queryAll } from '../table/query-all.ts';
import { type AlertRow, type FeedEntry, type IncidentRow, type Move, readAlerts } from './feed.ts';

/** A feed entry with all its alerts. */
export interface FeedItem {
  entry: FeedEntry;
  moves: Move[];
  stayed: string[];
}

async function readRow<RowType>(table: Table, key: Key): Promise<RowType | undefined> {
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }));
  if (!Item) return undefined;
  const { pk: _pk, sk: _sk, ...row } = Item;
  return row as RowType;
}

export const readIncident = (table: Table, account: Int64, id: string) =>
  readRow<IncidentRow>(table, keys.incident(account, id));

export const readAlert = (table: Table, account: Int64, id: string) =>
  readRow<AlertRow>(table, keys.alert(account, id));

/** An incident's feed, oldest first. */
export async function readFeed(table: Table, account: Int64, incidentId: string): Promise<FeedItem[]> {
  const rowsOf = new Map<string, (Key & Row)[]>();
  for await (const row of queryAll(table, collections.feed(account, incidentId))) {
    const stamp = String(parseKey(row)?.parts[1]);
    rowsOf.set(stamp, [...(rowsOf.get(stamp) ?? []), row]);
  }
  return [...rowsOf.values()].map((rows) => {
    const { pk: _pk, sk: _sk, moved: _moved, stayed: _stayed, ...entry } = rows[0] as Key & Row;
    const feedEntry = entry as unknown as FeedEntry;
    return { entry: feedEntry, ...readAlerts(feedEntry, rows) };
  });
}
