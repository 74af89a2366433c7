/** What all scenarios share: their actors, their tables, and how a run is judged. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import { isUnavailable } from '../../../lib/dynamodb/failures.ts';
import { recordOfEntity } from '../../../lib/ingest/records.ts';
import { rowsOf } from '../../../lib/ingest/write-records.ts';
import { loadData } from '../../admin/data/load.ts';
import { connectDouble } from './double-client.ts';
import { type Allowances, depsOver, type Environment, type Invocation, START_MS } from './environment.ts';
import type { Scenario } from './explore.ts';
import { isLinearizable, type Outcome } from './linearizability.ts';
import type { Actor } from './run.ts';
import type { FinishedRun } from './state.ts';
import { type Rows, TableDouble } from './table-double.ts';
import { canonical } from './values.ts';

/** What an operation does in the model. @returns the outcome that is right when it runs alone, or each of them if there are several */
export type Apply<State> = (state: State) => Outcome<State> | readonly Outcome<State>[];
/** What each operation does in the model, by its name. */
type Operations<State> = Readonly<Record<string, Apply<State>>>;

/** An actor, with what its operations do in the model. */
export interface ModelledActor<State> extends Actor {
  readonly operations: Operations<State>;
}

/** An actor that invokes one operation. If it returns nothing, its answer is 'done'. */
export const actor = <State>(
  name: string,
  run: (environment: Environment) => Promise<unknown>,
  apply: Apply<State>,
  { retried = false, aheadMs, ...allowances }: Partial<Actor> & Allowances = {},
): ModelledActor<State> => ({
  name,
  script: (environment) => environment.invoke(name, async () => (await run(environment)) ?? 'done', allowances),
  operations: { [name]: apply },
  retried,
  aheadMs,
});

/** One actor that does the work of others, one after the other, whatever the outcome of each. */
export const inTurn = <State>(name: string, ...others: readonly ModelledActor<State>[]): ModelledActor<State> => ({
  name,
  async script(environment) {
    for (const { script } of others) await script(environment).catch(() => undefined);
  },
  operations: operationsOf(others),
});

const operationsOf = <State>(actors: readonly ModelledActor<State>[]): Operations<State> =>
  Object.assign({}, ...actors.map(({ operations }) => operations));

export const ACCOUNT = 1;
export const HOUR_MS = 3_600_000;

export const accountLine = (account_id: number, permissions: readonly string[] = []) => {
  return { kind: 'account', account_id, name: 'Acme', permissions };
};

/** Imports lines of a data file, as an operator does. */
export async function loadLines(table: Table, ...lines: readonly object[]): Promise<void> {
  const texts = lines.map((line) => JSON.stringify(line));
  await loadData(table, 'data', texts, { nowMs: 1_000 });
}

/** Writes a record of the feed. `early` and `late` records are older than all merges, and `early` ones the oldest; the `latest` is the newest. */
export async function writeRecord(table: Table, line: object, when: 'early' | 'late' | 'latest'): Promise<void> {
  const at_ms = START_MS + { early: -2, late: -1, latest: HOUR_MS }[when];
  for (const { write } of rowsOf([recordOfEntity({ ...line, at_ms } as never)])) await write(table);
}

/** The rows of a table after an import of these lines and a run of the real code that nothing interrupts. */
export async function rowsAfter(
  lines: readonly object[],
  run: (environment: Pick<Environment, 'deps'>) => Promise<unknown> = async () => {},
): Promise<Rows> {
  const double = new TableDouble();
  const table = connectDouble(async (request) => double.apply(request));
  await loadLines(table, ...lines);
  await run({ deps: depsOver(table) });
  return double.rows;
}

/** How a finished run is judged. */
export interface Judgement<State> {
  readonly initial: State;
  /** The answer or error of an invocation in the model's terms. */
  readonly answerOf: (invocation: Invocation) => string;
  /** What the final rows show of the model's state. */
  readonly stateOf: (run: FinishedRun) => Partial<State>;
  /** Whether the final rows agree with this state of the model; by default, whether it equals `stateOf`. */
  readonly isFinal?: (state: State, run: FinishedRun) => boolean;
  /** Whether the operation must succeed despite a lost reply; otherwise its caller repeats it. */
  readonly survivesLostReply: (invocation: Invocation) => boolean;
  /** Finds problems that a comparison of answers and rows with the model does not show. */
  readonly check?: (run: FinishedRun) => string[];
}

interface Options<State> extends Pick<Scenario, 'cost' | 'messagesFor' | 'isHurried' | 'excludedFault'> {
  /** Operations that may have been done before the scenario starts. */
  readonly optional?: Operations<State>;
  /** Operations of processes that messages start. */
  readonly ofMessages?: Operations<State>;
}

/** Makes a scenario. By default the clock of each actor is a second ahead of the clock of the actor before it. */
export function scenarioOf<State>(
  name: string,
  starts: Scenario['starts'],
  actors: readonly ModelledActor<State>[],
  judgement: Judgement<State>,
  { optional = {}, ofMessages = {}, ...rest }: Options<State>,
): Scenario {
  const { initial, answerOf, stateOf, survivesLostReply, check = () => [] } = judgement;
  const { isFinal = (state, run) => canonical(state) === canonical(stateOf(run)) } = judgement;
  const operations = { ...operationsOf(actors), ...ofMessages, ...optional };
  /** undefined: the error says that the outcome is unknown */
  const knownAnswer = (invocation: Invocation) =>
    invocation.error !== undefined && isUnavailable(invocation.error) ? undefined : answerOf(invocation);
  return {
    name,
    ...rest,
    starts,
    invocations: Object.keys(optional).map((operation) => ({
      name: operation,
      id: operation,
      calls: 1,
      after: [],
      optional: true,
    })),
    processes: actors.map((actor, index) => ({ ...actor, aheadMs: actor.aheadMs ?? 1_000 * index })),
    judge(run) {
      const problems = check(run);
      const isExplained = isLinearizable(run.invocations, {
        initial,
        apply: (state, operation) => [operations[operation]?.(state) ?? []].flat(),
        answerOf: knownAnswer,
        isFinal: (state) => isFinal(state, run),
      });
      if (!isExplained) {
        const answers = run.invocations.map(
          (invocation) =>
            `"${invocation.name}" ${invocation.ended ? (knownAnswer(invocation) ?? 'unknown') : 'never ended'}`,
        );
        const rows = canonical(stateOf(run)).replace(/0{8,}/g, '…');
        problems.push(`no order of the calls leads to these answers and rows: ${answers.join(', ')}; ${rows}`);
      }
      for (const invocation of run.invocations) {
        const { name, ended } = invocation;
        const mustSucceed =
          !invocation.optional && !run.isFailureExcused && (run.faults === 0 || survivesLostReply(invocation));
        if (mustSucceed && (!ended || knownAnswer(invocation) === undefined))
          problems.push(`"${name}" has failed, and no fault explains it`);
      }
      return problems;
    },
  };
}
