/** Makes a replica whole that has arrived in part, so that its region can serve. */
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { isBelow, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { updateRow } from '../../../lib/table/write.ts';
import { listAccounts } from '../accounts/accounts.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';
import { checkMergesOfTable } from '../check/check.ts';
import type { FindingKind } from '../check/finding.ts';
import { repairAccounts, repairMerges } from '../check/repair-table.ts';

/** Findings that name an entry which has not arrived. */
const LOST = new Set<FindingKind>([
  ...(['alert_entry_missing', 'incident_entry_missing', 'log_entry_missing'] as const),
  ...(['pending_entry_missing', 'idempotency_entry_missing'] as const),
]);

/** A merge or undo of which only other rows have arrived. Its sequence is about the Unix milliseconds of its commit. */
export interface LostEntry {
  readonly account_id: Int64;
  readonly sequence: number;
}

export interface RepairOptions {
  /** Absent: there is no usage plan. */
  readonly gatewayKeys: GatewayKeys | undefined;
  /** Whether {@link raiseLast} is a step: until the region serves. */
  readonly raises: boolean;
  readonly now: () => number;
  /** Runs a step, with audit rows of these accounts. It may throw instead; each step can be repeated. */
  readonly step: <Result>(what: string, accounts: readonly Int64[], run: () => Promise<Result>) => Promise<Result>;
  /** Told before the merges are repaired, since afterwards no row names the entry. */
  readonly onLost: (entry: LostEntry) => void;
}

/** @returns how many findings were repaired, and how many are left */
export async function repairReplica(table: Table, { gatewayKeys, raises, now, step, onLost }: RepairOptions) {
  // Until then, a key may be let in that a row forbids.
  const ofAccounts = await step('accounts and keys', await listAccounts(table), () => repairAccounts(table));
  const accounts = await listAccounts(table);
  if (gatewayKeys)
    await step('gateway keys', accounts, () =>
      forEach(accounts, (account) => gatewayKeys.provision(account, true), { concurrency: 1 }),
    );
  if (raises)
    await step('order of merges', accounts, () => forEach(accounts, (account) => raiseLast(table, account, now())));
  for (const entry of await lostEntries(table, now())) onLost(entry);
  const ofMerges = await step('merges', accounts, () => repairMerges(table, now()));
  const all = [ofAccounts, ofMerges];
  return {
    repaired: all.reduce((sum, { fixed }) => sum + fixed.length, 0),
    left: all.reduce((sum, { left }) => sum + left.length, 0),
  };
}

async function lostEntries(table: Table, nowMs: number): Promise<LostEntry[]> {
  const lost = new Map<string, LostEntry>();
  for await (const findings of checkMergesOfTable(table, { nowMs }))
    for (const { kind, account, ids } of findings) {
      const sequence = Number(ids.sequence);
      if (LOST.has(kind)) lost.set(`${account} ${sequence}`, { account_id: account, sequence });
    }
  return [...lost.values()];
}

/** How far the clocks of the other region may be ahead, in milliseconds. */
const CLOCK_MS = 5 * 60_000;

/**
 * Raises an account's latest sequence above those of all merges that the other region may have committed until now. So one that arrives late
 * comes before all that are committed from now on, and none of these has its sequence. A merge's time stays that of the clock.
 */
const raiseLast = (table: Table, account: Int64, nowMs: number) =>
  updateRow(table, keys.logHead(account), set({ last: nowMs + CLOCK_MS }), isBelow('last', nowMs + CLOCK_MS));
