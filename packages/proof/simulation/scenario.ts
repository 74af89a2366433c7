/** What scenarios have in common. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import { isUnavailable } from '../../../lib/dynamodb/failures.ts';
import { loadData } from '../../admin/data/load.ts';
import { connectDouble } from './double-client.ts';
import type { Scenario } from './explore.ts';
import { isLinearizable, type Model } from './linearize.ts';
import { depsOver, type Operation, type Script, type Surroundings } from './surroundings.ts';
import { type Rows, TableDouble } from './table-double.ts';
import type { Cast, Outcome } from './transition-system.ts';

export interface Actor {
  readonly name: string;
  readonly script: Script;
  /** Is begun again when it failed or died, as an operator does, or a client with its key. */
  readonly again?: boolean;
  /** Milliseconds that its clock is ahead; by default those of each actor differ. */
  readonly aheadMs?: number;
  /** What a lost reply has it send again is done again. */
  readonly repeats?: boolean;
  readonly mostCalls?: number;
}

/** Calls one operation, which has no state but its own. */
export const actor = (name: string, act: (at: Surroundings) => Promise<unknown>, more: Partial<Actor> = {}): Actor => ({
  name,
  script: (at) =>
    at.call(name, () => act(at), {
      forgets: true,
      repeats: more.repeats === true,
      ...(more.mostCalls !== undefined && { mostCalls: more.mostCalls }),
    }),
  ...more,
});

/** One after the other, whatever becomes of the one before. */
export const inTurn = (name: string, ...scripts: readonly Script[]): Actor => ({
  name,
  async script(at) {
    for (const script of scripts) await script(at).catch(() => undefined);
  },
});

/** Imports them, as an operator does. */
export async function loadLines(table: Table, ...lines: readonly object[]): Promise<void> {
  const texts = lines.map((line) => JSON.stringify(line));
  await loadData(table, 'data', texts, { nowSeconds: 1 });
}

/** The rows that real code writes, alone. */
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

export interface Judgement<State> extends Omit<Model<State>, 'isFinal' | 'answerOf'> {
  /** An answer as the model has it. */
  readonly answerOf: (operation: Operation) => string;
  readonly isFinal: (state: State, run: Outcome) => boolean;
  /** What is left, for people. */
  readonly describe: (run: Outcome) => string;
  /** Whether a reply that is lost must not fail it: otherwise it is to be done again. */
  readonly isSettled: (operation: Operation) => boolean;
  /** Other things that must hold in the end. */
  readonly check?: (run: Outcome) => string[];
}

/** @param maybe operations that may have been done before, or not */
export function scenarioOf<State>(
  name: string,
  starts: () => Promise<readonly Rows[]>,
  actors: readonly Actor[],
  judgement: Judgement<State>,
  {
    maybe = [],
    ...more
  }: Pick<Scenario, 'cost'> & Pick<Cast, 'onRecord' | 'isHurried' | 'without'> & { maybe?: readonly string[] },
): Scenario {
  /** undefined: the answer was that it is unknown. */
  const answerOf = (operation: Operation) =>
    operation.error !== undefined && isUnavailable(operation.error) ? undefined : judgement.answerOf(operation);
  return {
    name,
    ...more,
    starts,
    operations: maybe.map((each) => ({ name: each, id: each, calls: 1, after: [], optional: true })),
    processes: actors.map(({ name: own, script, again = false, aheadMs }, at) => ({
      name: own,
      script,
      message: again,
      aheadMs: aheadMs ?? 1_000 * at,
    })),
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
      if (run.isSettled)
        for (const one of run.operations)
          if (
            !one.optional &&
            (!one.ended || answerOf(one) === undefined) &&
            (run.faults === 0 || judgement.isSettled(one))
          )
            problems.push(`"${one.name}" has failed, though it was done`);
      return problems;
    },
  };
}
