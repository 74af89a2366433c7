/** What all scenarios share: their actors, their tables, and how a run is judged. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import { isUnavailable } from '../../../lib/dynamodb/failures.ts';
import { recordOfEntity } from '../../../lib/ingest/records.ts';
import { rowsOf } from '../../../lib/ingest/write-records.ts';
import { loadData } from '../../admin/data/load.ts';
import type { Actor } from './behavior.ts';
import { connectDouble } from './double-client.ts';
import type { Scenario } from './explore.ts';
import { isLinearizable, type Model } from './linearize.ts';
import { depsOver, type Operation, type OperationLimits, START_MS, type Surroundings } from './surroundings.ts';
import { type Rows, TableDouble } from './table-double.ts';
import type { Cast, FinishedRun } from './transition-system.ts';

/** An actor that calls one operation, which keeps no state between calls. */
export const actor = (
  name: string,
  act: (at: Surroundings) => Promise<unknown>,
  { retried = false, aheadMs, ...limits }: Partial<Actor> & OperationLimits = {},
): Actor => ({
  name,
  script: (at) => at.call(name, () => act(at), { forgets: true, ...limits }),
  retried,
  aheadMs,
});

/** One actor that does the work of others, one after the other, whatever the outcome of each. */
export const inTurn = (name: string, ...others: readonly Actor[]): Actor => ({
  name,
  async script(at) {
    for (const { script } of others) await script(at).catch(() => undefined);
  },
});

export const ACCOUNT = 1;
export const HOUR_MS = 3_600_000;

export const accountLine = (account_id: number, permissions: readonly string[] = []) => {
  return { kind: 'account', account_id, name: 'Acme', permissions };
};

/** Imports lines of a data file, as an operator does. */
export async function loadLines(table: Table, ...lines: readonly object[]): Promise<void> {
  const texts = lines.map((line) => JSON.stringify(line));
  await loadData(table, 'data', texts, { nowSeconds: 1 });
}

/** Writes a record of the feed. Early and late ones are older than all merges, the latest is newer. */
export async function writeRecord(table: Table, line: object, when: 'early' | 'late' | 'latest'): Promise<void> {
  const at_ms = START_MS + { early: -2, late: -1, latest: HOUR_MS }[when];
  for (const { write } of rowsOf([recordOfEntity({ ...line, at_ms } as never)])) await write(table);
}

/** The rows that the real code writes when it runs alone. */
export async function rowsAfter(
  lines: readonly object[],
  act: (at: Pick<Surroundings, 'deps'>) => Promise<unknown> = async () => {},
): Promise<Rows> {
  const double = new TableDouble();
  const table = connectDouble(async (request) => double.apply(request));
  await loadLines(table, ...lines);
  await act({ deps: depsOver(table) });
  return double.rows;
}

/** How a finished run is judged. */
export interface Judgement<State> extends Pick<Model<State>, 'initial' | 'apply'> {
  /** The answer or error of an operation in the model's terms. */
  readonly answerOf: (operation: Operation) => string;
  /** Whether the rows hold this state of the model. */
  readonly isFinal: (state: State, run: FinishedRun) => boolean;
  /** The final rows, for people. */
  readonly describe: (run: FinishedRun) => string;
  /** Whether the operation must succeed despite a lost reply; otherwise its caller repeats it. */
  readonly isSettled: (operation: Operation) => boolean;
  /** Problems other than answers and rows that the model does not explain. */
  readonly check?: (run: FinishedRun) => string[];
}

/**
 * The clock of each actor is by default a second ahead of the one before.
 * @param options.optional names of operations that may have been done before
 */
export function scenarioOf<State>(
  name: string,
  starts: () => Promise<readonly Rows[]>,
  actors: readonly Actor[],
  judgement: Judgement<State>,
  options: Pick<Scenario, 'cost'> & Pick<Cast, 'onRecord' | 'isHurried' | 'without'> & { optional?: readonly string[] },
): Scenario {
  const { optional = [], ...more } = options;
  /** undefined: the error says that the outcome is unknown */
  const answerOf = (operation: Operation) =>
    operation.error !== undefined && isUnavailable(operation.error) ? undefined : judgement.answerOf(operation);
  return {
    name,
    ...more,
    starts,
    operations: optional.map((each) => ({ name: each, id: each, calls: 1, after: [], optional: true })),
    processes: actors.map((each, index) => ({ ...each, aheadMs: each.aheadMs ?? 1_000 * index })),
    judge(run) {
      const problems = [...(judgement.check?.(run) ?? [])];
      const { initial, apply } = judgement;
      const isFinal = (state: State) => judgement.isFinal(state, run);
      if (!isLinearizable(run.operations, { initial, apply, answerOf, isFinal })) {
        const answers = run.operations.map(
          (one) => `"${one.name}" ${one.ended ? (answerOf(one) ?? 'unknown') : 'never ended'}`,
        );
        problems.push(
          `no order of the calls leads to these answers and rows: ${answers.join(', ')}; ${judgement.describe(run)}`,
        );
      }
      const mustSucceed = (one: Operation) =>
        !one.optional && run.isSettled && (run.faults === 0 || judgement.isSettled(one));
      for (const one of run.operations)
        if (mustSucceed(one) && (!one.ended || answerOf(one) === undefined))
          problems.push(`"${one.name}" has failed, and no fault explains it`);
      return problems;
    },
  };
}
