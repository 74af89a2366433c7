/** Finds what an id names, in all accounts, for an operator who knows only the id. */

import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import type { AccountRow } from '../../../lib/model/account.ts';
import { isOpenAlert } from '../../../lib/model/alert.ts';
import type { WorkItemRow } from '../../../lib/model/work-item.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys, type ReadRow } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import { readAllAccounts } from '../accounts/accounts.ts';
import { isAlertKey, OBJECT_ID } from '../incidents/alerts.ts';
import { listLatestMerges } from '../incidents/list.ts';
import { timeText } from '../text/printable.ts';
import type { Address } from '../text/table.ts';

export interface Found {
  readonly kind: 'account' | 'app_key' | 'incident' | 'alert' | 'host' | 'work_item' | 'merge';
  readonly account: Int64;
  readonly accountName: string;
  readonly id: string;
  /** A short description of what is stored. */
  readonly detail: string;
  /** The admin command that shows it; `idArgument` is its last argument, a stored text. */
  readonly command: { readonly words: string; readonly idArgument?: string };
  /** Its page in the console. */
  readonly page: Omit<Address, 'account'>;
}

/** In each account, the number of newest incidents whose histories are searched for a request id. */
export const HISTORIES_SEARCHED = 100;

/** Alerts of a key that are found. */
const ALERTS_OF_KEY = 100;

/** The beginning of a key's hash. The `app-key` commands require 8 digits; a hash has 64. */
const KEY_ID = /^[0-9a-f]{8,64}$/i;
export const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Finds an id in all accounts: of an account, app key (at least its first digits), incident, alert, host or work
 * item, the key of an alert, or the request_id of a merge.
 */
export async function find(table: Table, id: string): Promise<Found[]> {
  const accounts = await readAllAccounts(table);
  const found = [...findAccountsAndKeys(accounts, id), ...(await findRows(table, accounts, id))];
  if (REQUEST_ID.test(id)) for (const account of accounts) found.push(...(await findMerges(table, account, id)));
  return found;
}

const ownerOf = ({ account_id: account, name: accountName }: AccountRow) => ({ account, accountName });

function* findAccountsAndKeys(accounts: readonly AccountRow[], id: string): Generator<Found> {
  for (const account of accounts) {
    const { account_id: accountId, name, suspended } = account;
    const page = { path: ['account'] };
    if (id === String(accountId)) {
      const command = { words: `account show ${accountId}` };
      yield { ...ownerOf(account), kind: 'account', id, detail: suspended ? 'suspended' : 'active', command, page };
    }
    const command = { words: `app-key list --account ${accountId}` };
    for (const hash of KEY_ID.test(id) ? (account.app_keys ?? []) : [])
      if (hash.startsWith(id.toLowerCase()))
        yield { ...ownerOf(account), kind: 'app_key', id: appKeyIdOf(hash), detail: `key of ${name}`, command, page };
  }
}

/** Finds rows with the id in their key. Costs at most six read units for each account, and those of the alerts of a key. */
async function findRows(table: Table, accounts: readonly AccountRow[], id: string): Promise<Found[]> {
  // DynamoDB's sort keys have at most 1,024 bytes.
  const isStorable = id !== '' && id.isWellFormed() && Buffer.byteLength(id) <= 1_024;
  if (!isStorable) return [];
  const keysOf = ({ account_id: account }: AccountRow) => [
    keys.host(account, id),
    keys.hostStatus(account, id),
    keys.workItem(account, id),
    ...(OBJECT_ID.test(id) ? [keys.incident(account, id), keys.alert(account, id)] : []),
    ...(isAlertKey(id) ? [keys.alertKey(account, id)] : []),
  ];
  const { rows } = await batchGet(table, accounts.flatMap(keysOf), {
    attributes: [...ALERT, ...OTHERS],
    consistent: false,
  });
  const ofKey = new Map<Int64, FoundAlert[]>();
  for (const { account_id: account } of accounts)
    ofKey.set(account, await alertsOfKey(table, account, rows.of(keys.alertKey(account, id))?.alert_id));
  return accounts.flatMap((account) => {
    const { account_id: accountId } = account;
    const show = (what: string) => ({ words: `show ${what} --account ${accountId}`, idArgument: id });
    const owner = ownerOf(account);
    const all: Found[] = [];
    const incident = rows.of(keys.incident(accountId, id));
    const alert = rows.of(keys.alert(accountId, id));
    const item = rows.of(keys.workItem(accountId, id));
    const host = rows.of(keys.host(accountId, id));
    const status = rows.of(keys.hostStatus(accountId, id));
    const lower = id.toLowerCase();
    if (incident) {
      const page = { path: ['incident', lower] };
      all.push({ ...owner, kind: 'incident', id: lower, detail: incident.title, command: show('incident'), page });
    }
    // The alert that has the id, and those of the key.
    for (const found of [...(alert ? [alert] : []), ...(ofKey.get(accountId) ?? [])])
      all.push({
        ...owner,
        kind: 'alert',
        id: found === alert ? lower : id,
        detail: `${quoted(found.title)}; ${stateText(found)}`,
        command: { words: `alert show --account ${accountId}`, idArgument: found.sk },
        page: { path: ['alert', found.sk] },
      });
    if (host ?? status) {
      const detail = host ? 'in the inventory' : 'reports, and is not in the inventory';
      all.push({ ...owner, kind: 'host', id, detail, command: show('host'), page: { path: ['host'], query: { id } } });
    }
    if (item) {
      const detail = `${quoted(item.title)}; version ${item.version}${deletionText(item)}`;
      const page = { path: ['work-items'], query: { from: id } };
      all.push({ ...owner, kind: 'work_item', id, detail, command: show('work-item'), page });
    }
    return all;
  });
}

const ALERT = [
  ...(['alert_id', 'alert_key', 'title', 'incident_id', 'alert_severity', 'key_order', 'ended_at_ms'] as const),
  ...(['sk', 'started_at_ms', 'previous_alert_id'] as const),
] as const;
const OTHERS = ['deleted_at_ms', 'deleted_by', 'version'] as const;

type FoundAlert = ReadRow<'alert', (typeof ALERT)[number]>;

/** The alerts of a key, the last one first, each for half a read unit for each started 4 KB. */
async function alertsOfKey(table: Table, account: Int64, last: string | undefined): Promise<FoundAlert[]> {
  const found: FoundAlert[] = [];
  for (let id = last; id !== undefined && found.length < ALERTS_OF_KEY; id = found.at(-1)?.previous_alert_id) {
    const key = keys.alert(account, id);
    const { rows } = await batchGet(table, [key], { attributes: ALERT, consistent: false });
    const alert = rows.of(key);
    if (!alert) break;
    found.push(alert);
  }
  return found;
}

function stateText(alert: FoundAlert): string {
  const { alert_key, alert_severity, incident_id, started_at_ms } = alert;
  const started = started_at_ms === undefined ? '' : ` since ${timeText(started_at_ms)}`;
  const ended = `ended, started ${timeText(started_at_ms ?? 0)}`;
  const state = alert_key === undefined ? '' : `${isOpenAlert(alert) ? `${alert_severity}${started}` : ended}, `;
  return `${state}in ${incident_id === undefined ? 'no incident' : `incident ${incident_id}`}`;
}

/** A stored text that facts follow, which it could forge without its quotes. */
const quoted = (title: string) => JSON.stringify(title);

const deletionText = ({ deleted_at_ms: at, deleted_by: by }: Pick<WorkItemRow, 'deleted_at_ms' | 'deleted_by'>) =>
  at === undefined ? '' : `, deleted ${timeText(at)}${by === undefined ? '' : ` by ${by}`}`;

async function findMerges(table: Table, account: AccountRow, requestId: string): Promise<Found[]> {
  const { account_id: accountId } = account;
  const { items } = await listLatestMerges(table, accountId, { incidents: HISTORIES_SEARCHED });
  return items
    .filter(({ entry }) => entry.request_id === requestId.toLowerCase())
    .map(({ entry: { incident_id, sequence }, pending }) => ({
      ...ownerOf(account),
      kind: 'merge',
      id: requestId,
      detail: `entry ${sequence} of incident ${incident_id}, ${pending ? 'pending' : 'done'}`,
      command: { words: `show incident ${incident_id} --account ${accountId}` },
      page: { path: ['incident', incident_id], part: String(sequence) },
    }));
}
