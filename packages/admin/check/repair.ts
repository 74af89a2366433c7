import { finishMerge } from '../../../lib/operations/merge-alerts/finish.ts';
import { readLogHead } from '../../../lib/operations/merge-alerts/log-head.ts';
import { backoff, CONFLICT, chunksOf, forEach, THROTTLING } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Action, transactOnce } from '../../../lib/table/write.ts';
import { AccountError } from '../accounts/accounts.ts';
import { createErasureWatch } from '../accounts/erasure-watch.ts';
import type { Finding } from './finding.ts';

/** Findings fixed in one transaction; each has one or two writes. Few, so that calls seldom conflict with it. */
const FINDINGS_AT_ONCE = 25;

/**
 * Writes the fix of each finding, unless its rows have changed since they were read. Then finishes the pending merges
 * of the accounts, unless they are not to be. After a failure, another check finds what is left.
 * @param onFixed called from time to time with the number of findings fixed since the last call
 * @returns `left`: findings that were not fixed, since the right state is unknown or their rows have changed
 */
export async function repair(
  table: Table,
  findings: readonly Finding[],
  onFixed: (count: number) => void = () => {},
  finishes = true,
): Promise<{ fixed: number; left: Finding[] }> {
  const requireStillThere = createErasureWatch(table);
  const left = findings.filter(({ fixes }) => fixes.length === 0);
  let fixed = 0;
  const count = (more: number) => {
    fixed += more;
    onFixed(more);
  };
  const repairable = findings.filter(({ fixes }) => fixes.length > 0);
  // Before the rows that name lost entries are repaired: afterwards nothing tells which sequences were used.
  const isFirst = ({ kind }: Finding) => kind === 'log_head_behind';
  const rest = repairable.filter((finding) => !isFirst(finding));
  for (const group of [repairable.filter(isFirst), ...disjointGroupsOf(rest)])
    await forEach(chunksOf(group, FINDINGS_AT_ONCE), async (batch) => {
      if (await writeFixes(table, batch, requireStillThere)) return count(batch.length);
      for (const finding of batch)
        if (await writeFixes(table, [finding], requireStillThere)) count(1);
        else left.push(finding);
    });
  if (finishes)
    await forEach(new Set(findings.map(({ account }) => account)), (account) => finishMerges(table, account));
  return { fixed, left };
}

/** @returns false if one of the rows has changed, or an account is erased: then no fix is written */
async function writeFixes(
  table: Table,
  findings: readonly Finding[],
  requireStillThere: ReturnType<typeof createErasureWatch>,
): Promise<boolean> {
  const fixes = findings.flatMap((finding) => finding.fixes);
  for (let attempt = 1; ; attempt += 1) {
    try {
      for (const { account } of findings) await requireStillThere(account);
    } catch (error) {
      if (error instanceof AccountError) return false;
      throw error;
    }
    const result = await transactOnce(table, fixes);
    if (result.outcome === 'applied') return true;
    if (result.outcome === 'changed') return false;
    if (result.outcome === 'refused') throw result.error;
    await backoff(attempt, result.outcome === 'throttled' ? THROTTLING : CONFLICT);
  }
}

/** Groups findings, in order, so that no two findings of a group concern the same row. */
function disjointGroupsOf(findings: readonly Finding[]): Finding[][] {
  const groups: Finding[][] = [];
  const nextGroupOf = new Map<string, number>();
  for (const finding of findings) {
    const rows = finding.fixes.map(rowNameOf);
    const group = Math.max(...rows.map((row) => nextGroupOf.get(row) ?? 0));
    groups[group] ??= [];
    groups[group].push(finding);
    for (const row of rows) nextGroupOf.set(row, group + 1);
  }
  return groups;
}

function rowNameOf({ Put, Update, Delete, ConditionCheck }: Action): string {
  const { pk, sk } = Put?.Item ?? (Update ?? Delete ?? ConditionCheck)?.Key ?? {};
  return `${pk}\n${sk}`;
}

async function finishMerges(table: Table, account: Int64): Promise<void> {
  const { pending = [] } = await readLogHead(table, account);
  for (const entryId of pending) await finishMerge(table, account, entryId);
}
