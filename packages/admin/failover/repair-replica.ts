/** Makes a replica whole that has arrived in part, so that its region can serve. */
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { listAccounts } from '../accounts/accounts.ts';
import type { RecordWrites } from '../accounts/audit-rows.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';
import { checkMergesOfTable } from '../check/check.ts';
import type { Finding, FindingKind } from '../check/finding.ts';
import { repairAccounts, repairMerges } from '../check/repair-table.ts';

/** Findings that name an entry which has not arrived, or of which only other rows have. */
const LOST = new Set<FindingKind>([
  ...(['alert_entry_missing', 'incident_entry_missing', 'log_entry_missing'] as const),
  ...(['pending_entry_missing', 'idempotency_entry_missing'] as const),
]);

export interface RepairOptions {
  readonly now: () => number;
  /** Makes a step. It may throw instead; each step can be repeated. */
  readonly step: RecordWrites;
  /**
   * Told of merges and undos before they are repaired, since afterwards nothing names them: those that are lost, by their sequences, which are
   * about the Unix milliseconds of their commits, and findings `merged_in_two_regions`.
   */
  readonly onLost: (account: Int64, sequence: number) => void;
  readonly onTwice: (finding: Finding) => void;
}

/** @returns how many findings were repaired, and how many are left */
export async function repairReplica(table: Table, { now, step, onLost, onTwice }: RepairOptions) {
  // Until then, a key may be let in that a row forbids.
  const ofAccounts = await step(await listAccounts(table), 'accounts and keys', () => repairAccounts(table));
  const accounts = await listAccounts(table);
  const told = new Set<string>();
  for await (const findings of checkMergesOfTable(table, { nowMs: now() }))
    for (const finding of findings) {
      const { kind, account, ids } = finding;
      const name = `${account} ${ids.sequence}`;
      if (kind === 'merged_in_two_regions') onTwice(finding);
      if (!LOST.has(kind) || told.has(name)) continue;
      told.add(name);
      onLost(account, Number(ids.sequence));
    }
  const ofMerges = await step(accounts, 'merges', () => repairMerges(table, now()));
  const all = [ofAccounts, ofMerges];
  return {
    repaired: all.reduce((sum, { fixed }) => sum + fixed.length, 0),
    left: all.reduce((sum, { left }) => sum + left.length, 0),
  };
}

/** Makes the gateway keys of accounts that the region's usage plan lacks, of the values that their rows have. */
export async function provideGatewayKeys(table: Table, gatewayKeys: GatewayKeys, step: RecordWrites) {
  const accounts = await listAccounts(table);
  await step(accounts, 'gateway keys', () =>
    forEach(accounts, (account) => gatewayKeys.provision(account), { concurrency: 1 }),
  );
}
