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

/** What an operation does in the model. @returns the right outcome, or each of several, when it runs alone */
export type Apply<State> = (state: State) => Outcome<State> | readonly Outcome<State>[];
/** By the names of the operations. */
type Operations<State> = Readonly<Record<string, Apply<State>>>;

/** An actor, with what its operations do in the model. */
export interface ModelledActor<State> extends Actor {
  readonly operations: Operations<State>;
}

/** An actor that invokes one operation. If it returns nothing, its answer is 'done'. */
export const actor = <State>(
  name: string,
  act: (environment: Environment) => Promise<unknown>,
  apply: Apply<State>,
  { retried = false, aheadMs, ...allowances }: Partial<Actor> & Allowances = {},
): ModelledActor<State> => ({
  name,
  script: (environment) => environment.invoke(name, async () => (await act(environment)) ?? 'done', allowances),
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
  act: (environment: Pick<Environment, 'deps'>) => Promise<unknown> = async () => {},
): Promise<Rows> {
  const double = new TableDouble();
  const table = connectDouble(async (request) => double.apply(request));
  await loadLines(table, ...lines);
  await act({ deps: depsOver(table) });
  return double.rows;
}

/** How a finished run is judged. */
export interface Judgement<State> {
  readonly initial: State;
  /** The answer or error of an invocation in the model's terms. */
  readonly answerOf: (invocation: Invocation) => string;
  /** What the final rows show of the model's state. */
  readonly stateOf: (run: FinishedRun) => Partial<State>;
  /** Whether the final rows hold this state of the model; by default if it is the one that they show. */
  readonly isFinal?: (state: State, run: FinishedRun) => boolean;
  /** Whether the operation must succeed despite a lost reply; otherwise its caller repeats it. */
  readonly survivesLostReply: (invocation: Invocation) => boolean;
  /** Problems other than answers and rows that the model does not explain. */
  readonly check?: (run: FinishedRun) => string[];
}

interface Options<State> extends Pick<Scenario, 'cost' | 'messagesFor' | 'isHurried' | 'without'> {
  /** Operations that may have been done before. */
  readonly optional?: Operations<State>;
  /** Operations of processes that messages start. */
  readonly ofMessages?: Operations<State>;
}

/** The clock of each actor is by default a second ahead of the one before. */
export function scenarioOf<State>(
  name: string,
  starts: Scenario['starts'],
  actors: readonly ModelledActor<State>[],
  judgement: Judgement<State>,
  { optional = {}, ofMessages = {}, ...more }: Options<State>,
): Scenario {
  const { initial, answerOf, stateOf, survivesLostReply, check = () => [] } = judgement;
  const { isFinal = (state, run) => canonical(state) === canonical(stateOf(run)) } = judgement;
  const operations = { ...operationsOf(actors), ...ofMessages, ...optional };
  /** undefined: the error says that the outcome is unknown */
  const knownAnswer = (invocation: Invocation) =>
    invocation.error !== undefined && isUnavailable(invocation.error) ? undefined : answerOf(invocation);
  return {
    name,
    ...more,
    starts,
    invocations: Object.keys(optional).map((each) => ({ name: each, id: each, calls: 1, after: [], optional: true })),
    processes: actors.map((each, index) => ({ ...each, aheadMs: each.aheadMs ?? 1_000 * index })),
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
          (each) => `"${each.name}" ${each.ended ? (knownAnswer(each) ?? 'unknown') : 'never ended'}`,
        );
        const rows = canonical(stateOf(run)).replace(/0{8,}/g, '…');
        problems.push(`no order of the calls leads to these answers and rows: ${answers.join(', ')}; ${rows}`);
      }
      for (const each of run.invocations) {
        const mustSucceed = !each.optional && !run.isFailureExcused && (run.faults === 0 || survivesLostReply(each));
        if (mustSucceed && (!each.ended || knownAnswer(each) === undefined))
          problems.push(`"${each.name}" has failed, and no fault explains it`);
      }
      return problems;
    },
  };
}
