import { backoff, CONFLICT, THROTTLED } from '../../../lib/dynamodb/backoff.ts';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { type Action, transactOnce } from '../../../lib/dynamodb/transact.ts';
import { readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { finishMerge } from '../../../lib/operations/merge-alerts/move.ts';
import { chunksOf } from '../../../lib/shared/chunks.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Finding } from './finding.ts';

/** Maximum fixes in one transaction; a finding has one or two. Few, since calls may conflict with it. */
const FINDINGS_AT_ONCE = 25;

/**
 * Writes the fixes of findings, each if its rows are as they were read; then finishes the merges that have alerts left to
 * move. After a failure, another check finds what is left.
 * @param onFixed called from time to time with the number of findings fixed since the last call
 * @returns `left`: the right state is unknown, or the rows have changed
 */
export async function repair(
  table: Table,
  findings: readonly Finding[],
  onFixed: (count: number) => void = () => {},
): Promise<{ fixed: number; left: Finding[] }> {
  const left = findings.filter(({ fixes }) => fixes.length === 0);
  let fixed = 0;
  const count = (more: number) => {
    fixed += more;
    onFixed(more);
  };
  const isWritten = (some: readonly Finding[]) =>
    write(
      table,
      some.flatMap(({ fixes }) => fixes),
    );
  for (const wave of wavesOf(findings.filter(({ fixes }) => fixes.length > 0)))
    await forEach(chunksOf(wave, FINDINGS_AT_ONCE), async (batch) => {
      if (await isWritten(batch)) return count(batch.length);
      for (const finding of batch)
        if (await isWritten([finding])) count(1);
        else left.push(finding);
    });
  const accounts = new Map(findings.map(({ account }) => [String(account), account]));
  await forEach(accounts.values(), (account) => finishMerges(table, account));
  return { fixed, left };
}

/** @returns whether the fixes were written: none is if one of their rows has changed */
async function write(table: Table, fixes: readonly Action[]): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await transactOnce(table, fixes);
    if (result.outcome === 'applied') return true;
    if (result.outcome === 'changed') return false;
    if (result.outcome === 'refused') throw result.error;
    await backoff(attempt, result.outcome === 'throttled' ? THROTTLED : CONFLICT);
  }
}

/** Groups findings, in order, so that the fixes of one group concern different rows. */
function wavesOf(findings: readonly Finding[]): Finding[][] {
  const waves: Finding[][] = [];
  const nextOf = new Map<string, number>();
  for (const finding of findings) {
    const rows = finding.fixes.map(rowOf);
    const wave = Math.max(...rows.map((row) => nextOf.get(row) ?? 0));
    waves[wave] ??= [];
    waves[wave].push(finding);
    for (const row of rows) nextOf.set(row, wave + 1);
  }
  return waves;
}

function rowOf({ Put, Update, Delete, ConditionCheck }: Action): string {
  const { pk, sk } = Put?.Item ?? (Update ?? Delete ?? ConditionCheck)?.Key ?? {};
  return `${pk}\n${sk}`;
}

async function finishMerges(table: Table, account: Int64): Promise<void> {
  const { pending = [] } = await readMergeOrder(table, account);
  for (const place of pending) await finishMerge(table, account, place);
}
