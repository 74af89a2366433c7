/** The state of the service and its table: whether it answers, its figures, and what needs an operator. */
import { randomBytes } from 'node:crypto';
import type { AccountRow } from '../../../lib/model/account.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import { appKeyState, listAccounts, listAppKeys, readAllAccounts } from '../accounts/accounts.ts';
import { openAlertsOf } from '../incidents/alert-counts.ts';
import { type MergeProgress, readMergeProgress } from '../incidents/pending-merges.ts';
import type { Attempt, Measured } from './measured.ts';

const DAY_MS = 86_400_000;
/** A key is listed this many days before it expires, so that there is time to replace it. */
export const EXPIRY_WARNING_DAYS = 30;
const TIMEOUT_MS = 10_000;
export const QUOTA_NAMES = ['session_investigate', 'session_measure', 'session_replay'] as const;

export interface StatusSource {
  readonly table: Table;
  readonly now: () => number;
  /** Base address of the API; undefined: unknown. */
  readonly url: string | undefined;
  /** Absent: `url` is not that of a domain. */
  readonly defaultUrl?: string | undefined;
  /** Absent: no figures are available. */
  readonly measure: (() => Promise<Measured>) | undefined;
  readonly deadLetters: () => Promise<number | undefined>;
}

/** What was read for the status: the value, or the error. */
export type Reading<Value> = { readonly value: Value } | { readonly error: Error };

export interface ExpiringKey {
  account_id: Int64;
  app_key_id: string;
  /** Unix milliseconds. */
  expires_ms: number;
  note: string;
}

/** Reads all at once; one that cannot be read does not hide the others. */
export async function readStatus(source: StatusSource) {
  const { table, now } = source;
  const [service, table_ms, measured, pending, dead_letters, accounts, open_alerts] = await Promise.all([
    source.url === undefined ? undefined : readingOf(() => callService(String(source.url))),
    readingOf(() => timeRead(table)),
    source.measure && readingOf(source.measure),
    readingOf(() => readMergeProgress(table)),
    readingOf(source.deadLetters),
    readingOf(() => readAccountsStatus(table, now())),
    readingOf(async () => openAlertsOf(table, await listAccounts(table))),
  ]);
  const figures = { service, default_url: source.defaultUrl, table_ms, measured };
  return { at_ms: now(), ...figures, pending, dead_letters, accounts, open_alerts };
}

export type Status = Awaited<ReturnType<typeof readStatus>>;

/** Reads something; an error becomes its result. */
export const readingOf = <Value>(read: () => Promise<Value>): Promise<Reading<Value>> =>
  read().then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );

/** The value that was read; undefined if it could not be read. */
export const known = <Value>(read: Reading<Value> | undefined) => (read && 'value' in read ? read.value : undefined);

/**
 * Calls an operation with a random app key. To refuse it, the gateway, authorizer, function and table must work.
 * @returns milliseconds that the answer took
 * @throws Error saying what the service answered instead
 */
async function callService(url: string): Promise<number> {
  const address = new URL(`${url.replace(/\/$/, '')}${getRumResource.path}`);
  address.searchParams.set('app_key', randomBytes(32).toString('base64url'));
  const began = performance.now();
  const response = await fetch(address, {
    method: 'POST',
    body: '{}',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { 'Content-Type': 'application/json' },
  }).catch((error: Error & { cause?: { code?: string } }) => {
    throw new Error(`does not answer (${error.cause?.code ?? error.name})`);
  });
  const text = await response.text();
  if (response.status !== 401) throw new Error(`answers with status ${response.status}: ${problemOf(text)}`);
  return Math.round(performance.now() - began);
}

/** Code and message of an error of the API, or the beginning of another answer. */
function problemOf(answer: string): string {
  try {
    const { code, message } = (JSON.parse(answer) as { error: { code: string; message: string } }).error;
    return `${code}: ${message}`;
  } catch {
    return answer.slice(0, 300);
  }
}

/** Milliseconds that a consistent read takes from this machine. */
async function timeRead(table: Table): Promise<number> {
  // Reading a missing row costs at most half a unit; the first call also connects.
  const read = () => batchGet(table, [keys.listedAccount(0)]);
  await read();
  const began = performance.now();
  await read();
  return Number((performance.now() - began).toFixed(1));
}

async function readAccountsStatus(table: Table, nowMs: number) {
  const accounts = await readAllAccounts(table);
  const [expiring_keys, over_quota] = await Promise.all([
    readExpiringKeys(table, accounts, nowMs),
    readOverQuota(table, accounts),
  ]);
  const without_gateway_key = accounts.filter((row) => row.gateway_key === undefined).map((row) => row.account_id);
  return { count: accounts.length, without_gateway_key, over_quota, expiring_keys };
}

async function readExpiringKeys(table: Table, accounts: readonly AccountRow[], nowMs: number): Promise<ExpiringKey[]> {
  const found: ExpiringKey[] = [];
  for (const account of accounts)
    for (const key of await listAppKeys(table, account)) {
      const { app_key_id, expires_at, note = '' } = key;
      const expires_ms = Number(expires_at) * 1000;
      if (appKeyState(key, nowMs) === 'valid' && expires_ms <= nowMs + EXPIRY_WARNING_DAYS * DAY_MS)
        found.push({ account_id: account.account_id, app_key_id, expires_ms, note });
    }
  return found.sort((a, b) => a.expires_ms - b.expires_ms);
}

async function readOverQuota(table: Table, accounts: readonly AccountRow[]) {
  const ids = accounts.map(({ account_id }) => account_id);
  const { rows } = await batchGet(
    table,
    ids.flatMap((id) => [keys.rumResource(id), keys.rumUsage(id)]),
    { consistent: false },
  );
  return ids.flatMap((account_id) => {
    const resource = rows.of(keys.rumResource(account_id)) as Readonly<Record<string, unknown>> | undefined;
    const used = rows.of(keys.rumUsage(account_id)) as Readonly<Record<string, unknown>> | undefined;
    if (!resource || resource.deleted || !used) return [];
    const over = QUOTA_NAMES.filter((name) => Number(used[`${name}.used_cnt`]) > Number(resource[`${name}.free_cnt`]));
    const all = [...over, ...(used.session_limit_reached === true ? ['limit of sessions'] : [])];
    return all.map((quota) => ({ account_id, quota }));
  });
}

/** Adds the last attempt to finish a pending merge, if one failed within the window of the figures. */
export function withAttempt(merge: MergeProgress, measured: Measured | undefined): MergeProgress & { last?: Attempt } {
  const last = measured?.attempts
    .filter(({ incident_id, sequence }) => incident_id === merge.incident_id && sequence === merge.sequence)
    .reduce<Attempt | undefined>(
      (latest, attempt) => (latest && latest.at_ms >= attempt.at_ms ? latest : attempt),
      undefined,
    );
  return { ...merge, ...(last && { last }) };
}
