/** Parts that all scenarios share. */

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
  /** Repeated after a failure or crash, as an operator does, or a client with its key. */
  readonly again?: boolean;
  /** Milliseconds by which its clock is ahead; by default each actor's differs. */
  readonly aheadMs?: number;
  /** Its writes that are sent again after a lost reply are done twice. */
  readonly repeats?: boolean;
  readonly mostCalls?: number;
}

/** Calls one operation that keeps no state between calls. */
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

/** Calls one after the other, whatever the outcome of each. */
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

export interface Judgement<State> extends Omit<Model<State>, 'isFinal' | 'answerOf'> {
  /** An answer in the model's terms. */
  readonly answerOf: (operation: Operation) => string;
  readonly isFinal: (state: State, run: Outcome) => boolean;
  /** What is left, for people. */
  readonly describe: (run: Outcome) => string;
  /** Whether it must succeed despite a lost reply; otherwise it is repeated. */
  readonly isSettled: (operation: Operation) => boolean;
  /** Further conditions that must hold at the end. */
  readonly check?: (run: Outcome) => string[];
}

/** @param maybe operations that may or may not have been done before */
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
  /** undefined: the answer says that the outcome is unknown */
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
