/** What operators did to an account: a row for each command, kept 400 days. */
import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { collections, keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';

const KEPT_SECONDS = 400 * 86_400;

/** One command of an operator, as it was run. Never an app key. */
export interface AuditEntry {
  readonly id: string;
  /** Unix milliseconds of the operator's clock. */
  readonly at_ms: number;
  /** The operator: an ARN on AWS, elsewhere the name of the user of the operating system. */
  readonly by: string;
  /** Such as `app-key revoke`. */
  readonly command: string;
  /** What it was done to, within the account. */
  readonly target?: string;
  /** `started` until the command has ended. */
  readonly result: 'started' | 'done' | 'failed';
  /** More about the result. */
  readonly detail?: string;
}

/** The row of an entry. */
export const auditRow = (account: Int64, entry: AuditEntry) => ({
  ...keys.audit(account, entry.at_ms, entry.id),
  ...entry,
  ttl: Math.floor(entry.at_ms / 1000) + KEPT_SECONDS,
});

/** Writes an entry in the transaction of the change that it tells of. */
export const auditAction = (table: Table, account: Int64, entry: AuditEntry): Action => ({
  Put: { TableName: table.name, Item: auditRow(account, entry) },
});

/** The entries of an account from a time on (Unix milliseconds), oldest first. */
export async function readAudit(table: Table, account: Int64, sinceMs: number): Promise<AuditEntry[]> {
  const pages = paginateQuery(
    { client: table.client },
    {
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk AND sk >= :since',
      ExpressionAttributeValues: { ':pk': collections.audit(account), ':since': keys.audit(account, sinceMs, '').sk },
      ConsistentRead: true,
    },
  );
  const entries: AuditEntry[] = [];
  for await (const { Items = [] } of pages)
    for (const { pk: _pk, sk: _sk, ttl: _ttl, ...entry } of Items) entries.push(entry as unknown as AuditEntry);
  return entries;
}
