/**
 * A state of a run: its table, its processes, and the calls and messages that may still arrive. States are immutable: a step copies one to a
 * draft and changes the draft.
 */

import type { Invocation } from './environment.ts';
import type { Position } from './recorder.ts';
import { type Actor, type Call, type Effect, outcomeOf } from './run.ts';
import type { TableState } from './tables.ts';
import { canonical, type Item } from './values.ts';

/** A process that a message starts. */
export interface Message extends Actor {
  /** Whether it starts at once. By default it waits until the process that wrote the row has ended, since the queue delays messages. */
  readonly early?: boolean;
}

interface ProcessState {
  readonly name: string;
  readonly position: Position;
  readonly alive: boolean;
}

export interface State {
  readonly table: TableState;
  readonly processes: readonly ProcessState[];
  readonly invocations: readonly Invocation[];
  /** Writes that were sent and that no process waits for: each may arrive at any time, or never. */
  readonly inFlight: readonly Call[];
  /** Messages, each with the process after whose end it is delivered. */
  readonly queued: readonly (Message & { readonly after?: string })[];
  /** ClientRequestTokens of applied transactions. */
  readonly tokens: readonly string[];
  /** Rows that a transaction of the process has written, but that the next Query, BatchGetItem or Scan still sees as they were before. */
  readonly hidden: readonly { readonly process: string; readonly row: string; readonly before: Item | undefined }[];
  /** Number of faults that have happened. */
  readonly faults: number;
  /** Names of the event metrics that the code has emitted. */
  readonly events: readonly string[];
  /** Errors that no run may show, of the code or of the simulation. */
  readonly failures: readonly string[];
  /**
   * Whether a fault has happened that excuses a failed invocation. A lost reply to a write does not excuse one, nor does a refusal after which
   * the code has to retry.
   */
  readonly isFailureExcused: boolean;
  /** Whether a transaction was throttled. */
  readonly isThrottled: boolean;
}
export type Draft = { -readonly [Name in keyof State]: State[Name] };

/** What a finished run is judged by. */
export interface FinishedRun
  extends Pick<State, 'invocations' | 'faults' | 'events' | 'isThrottled' | 'isFailureExcused'> {
  readonly items: readonly Item[];
}

export const finishedRun = ({ table, ...state }: State): FinishedRun => ({ ...state, items: [...table.rows.values()] });

/** Whether no process waits for a reply: only calls in flight can still arrive. */
export const isOver = ({ processes }: State) => processes.every(({ position }) => position.calls.length === 0);

export const processIn = ({ processes }: State, name: string) =>
  processes.find((process) => process.name === name) as ProcessState;

export function replaceProcess(draft: Draft, changed: ProcessState): void {
  draft.processes = draft.processes.map((process) => (process.name === changed.name ? changed : process));
}

export const invocationOf = ({ invocations }: State, { invocation }: Call) =>
  invocations.find(({ id }) => id === invocation);

export function replaceInvocation(draft: Draft, changed: Invocation): void {
  draft.invocations = draft.invocations.map((invocation) => (invocation.id === changed.id ? changed : invocation));
}

/** Lets a call that no process waits for any more arrive later, if it writes: a late read has no effect. */
export function keepInFlight(draft: Draft, call: Call): void {
  if (call.writes) draft.inFlight = [...draft.inFlight, call];
}

/**
 * States with equal keys have the same future and are judged alike.
 * @param idOf gives equal texts the same id
 */
export function keyOf(state: State, idOf: (text: string) => number): string {
  const { table, processes, invocations, inFlight, queued, tokens, hidden } = state;
  const { faults, isFailureExcused, isThrottled, events, failures } = state;
  // Of an ended process only the answers matter, which are in its invocations.
  const positions = processes.map(({ name, position, alive }) =>
    alive || position.calls.length > 0 ? position.id : -1 - idOf(`${name} is over`),
  );
  const answers = invocations.map(
    (invocation) =>
      `${invocation.id} after ${invocation.after} ${invocation.calls > 0} ${invocation.ended ? outcomeOf(invocation) : ''}`,
  );
  const pending = [
    ...inFlight.map(({ name, text }) => idOf(`${name} ${text}`)).sort(),
    ...queued.map(({ name, after }) => idOf(`${name} after ${after}`)).sort(),
    ...tokens.map(idOf).sort(),
    ...hidden.map(({ process, row, before }) => idOf(`${row} of ${process} as ${canonical(before)}`)),
  ];
  const judgedBy = `${faults} ${isFailureExcused} ${isThrottled} ${events} ${failures.length}`;
  return `${table.id} ${positions.sort()} ${idOf(answers.sort().join(';'))} ${judgedBy} ${pending}`;
}

/** Maximum calls of one invocation. A merge makes about ten, and as many again each time it loses to another. */
const MAX_CALLS = 40;
/** Additional calls for each fault: the retried call, and those repeated after it. */
const MAX_CALLS_PER_FAULT = 10;

/** Adds an observable effect of a process to the draft. */
export function applyEffect(draft: Draft, effect: Effect): void {
  switch (effect.kind) {
    case 'event':
      if (!draft.events.includes(effect.name)) draft.events = [...draft.events, effect.name].sort();
      break;
    case 'abandoned':
      keepInFlight(draft, effect.call);
      break;
    case 'begun': {
      const { kind, ...invocation } = effect;
      draft.invocations = [...draft.invocations, { ...invocation, calls: 0 }];
      break;
    }
    case 'calls':
    case 'ended': {
      const { kind, ...changed } = effect;
      const before = draft.invocations.find(({ id }) => id === effect.id) as Invocation;
      const after = { ...before, ...changed, ...(kind === 'ended' && { ended: true as const }) };
      replaceInvocation(draft, after);
      const { maxCalls = MAX_CALLS, calls } = after;
      if (kind === 'calls' && calls === maxCalls + MAX_CALLS_PER_FAULT * draft.faults + 1)
        draft.failures = [...draft.failures, `"${after.name}" has made ${calls} calls and has not ended`];
    }
  }
}
