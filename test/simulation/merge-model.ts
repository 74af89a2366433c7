/** What merges, their undoing and imports do: a plain sequential model, and how the table is compared with it. */
import { ApiError } from '../../lib/api/errors.ts';
import { checkMerges } from '../../lib/check/merges.ts';
import { mergeRowsOf } from '../../lib/check/read.ts';
import type { FeedItem } from '../../lib/incidents/read.ts';
import { UndoError } from '../../lib/incidents/undo-merge.ts';
import type { Judgement } from './scenario.ts';
import type { Outcome as Run } from './transition-system.ts';
import { canonical } from './values.ts';

export const ACCOUNT = 1;

export interface Merge {
  alerts: string[];
  into: string;
  title?: string;
  key?: string;
}

/** As the feeds tell of it; of an undoing `moves` says where alerts went, of a merge where they came from. */
export interface Entry {
  kind: 'merge' | 'merge_undone';
  incident: string;
  moves: Readonly<Record<string, string>>;
  stayed: readonly string[];
  /** Alerts that were imported since: a large entry that had yet to move them does not, and does not tell of them. */
  imported?: readonly string[];
}

export interface State {
  /** The incident of each alert; 'none' where there is none. */
  at: Readonly<Record<string, string>>;
  /** The entry that moved an alert last; absent: none has. */
  by: Readonly<Record<string, number>>;
  entries: readonly Entry[];
  titles: Readonly<Record<string, string>>;
  /** Idempotency-Keys. */
  used: readonly string[];
}

export interface Outcome {
  state: State;
  answer: string;
}

/** What an operation does. */
export type Apply = (state: State) => Outcome;

export function merged(state: State, { alerts, into, title, key }: Merge): Outcome {
  if (key !== undefined && state.used.includes(key)) return { state, answer: 'done' };
  if (alerts.some((alert) => !(alert in state.at))) return { state, answer: 'ResourceNotFound' };
  const moving = alerts.filter((alert) => state.at[alert] !== into);
  const entry: Entry = {
    kind: 'merge',
    incident: into,
    moves: Object.fromEntries(moving.map((alert) => [alert, state.at[alert] as string])),
    stayed: alerts.filter((alert) => !moving.includes(alert)).sort(),
  };
  return { state: withEntry(state, entry, { title, key, to: () => into }), answer: 'done' };
}

function withEntry(
  state: State,
  entry: Entry,
  { title, key, to }: { title?: string | undefined; key?: string | undefined; to: (alert: string) => string },
): State {
  const moving = Object.keys(entry.moves);
  const each = <Value>(value: (alert: string) => Value) =>
    Object.fromEntries(moving.map((alert) => [alert, value(alert)]));
  const taken = [...moving, ...entry.stayed].map((alert) => [alert, state.entries.length]);
  return {
    at: { ...state.at, ...each(to) },
    by: { ...state.by, ...Object.fromEntries(taken) },
    entries: [...state.entries, entry],
    titles: title === undefined ? state.titles : { ...state.titles, [entry.incident]: title },
    used: key === undefined ? state.used : [...state.used, key],
  };
}

/** Of the first merge. */
export function undone(state: State): Outcome {
  const first = state.entries[0] as Entry;
  const back = Object.fromEntries(
    Object.entries(first.moves).filter(([alert]) => state.at[alert] === first.incident && (state.by[alert] ?? 0) === 0),
  );
  const moves = Object.keys(back).sort();
  const left = Object.keys(first.moves)
    .filter((alert) => !moves.includes(alert))
    .sort();
  const answer = canonical({ moves, left });
  if (moves.length === 0) return { state, answer };
  const entry: Entry = { kind: 'merge_undone', incident: first.incident, moves: back, stayed: [] };
  return { state: withEntry(state, entry, { to: (alert) => back[alert] as string }), answer };
}

/** Alerts that the feeds tell of are where these say. */
export function repaired(state: State): Outcome {
  const at = { ...state.at };
  for (const { kind, incident, moves } of state.entries)
    for (const [alert, other] of Object.entries(moves)) at[alert] = kind === 'merge' ? incident : other;
  const fixed = Object.keys(at).filter((alert) => at[alert] !== state.at[alert]).length;
  return { state: { ...state, at }, answer: `${fixed} fixed` };
}

/** An alert that is imported belongs where the import says, whatever entries did with it. */
export function imported(state: State, alert: string, into: string): State {
  const { [alert]: _moved, ...by } = state.by;
  const entries = state.entries.map((entry) => ({ ...entry, imported: [...(entry.imported ?? []), alert] }));
  return { ...state, entries, by, at: { ...state.at, [alert]: into } };
}

/** Whether the feeds tell what the model does. */
function tells(told: readonly Entry[], entries: readonly Entry[]): boolean {
  return (
    told.length === entries.length &&
    entries.every(({ imported: after = [], ...entry }, at) => {
      const own = told[at] as Entry;
      const moves = Object.entries(entry.moves).filter(([alert]) => alert in own.moves || !after.includes(alert));
      const stayed = entry.stayed.filter((alert) => own.stayed.includes(alert) || !after.includes(alert));
      return canonical({ ...entry, moves: Object.fromEntries(moves), stayed }) === canonical(own);
    })
  );
}

const rowsOf = ({ items }: Run) => mergeRowsOf(ACCOUNT, items as never);

function stateOf(run: Run): Pick<State, 'at' | 'entries' | 'titles'> {
  const { alerts, incidents, entries } = rowsOf(run);
  const entryOf = ({ entry, moves, stayed }: FeedItem): Entry => ({
    kind: entry.kind,
    incident: entry.incident_id,
    moves: Object.fromEntries(
      moves.map(({ alertId, from, to }) => [alertId, (entry.kind === 'merge' ? from : to) ?? 'none']),
    ),
    stayed: stayed.toSorted(),
  });
  return {
    at: Object.fromEntries([...alerts].map(([alert, { incident_id }]) => [alert, incident_id ?? 'none'])),
    entries: entries.toSorted((one, other) => one.entry.sequence - other.entry.sequence).map(entryOf),
    titles: Object.fromEntries([...incidents].map(([incident, { title }]) => [incident, title])),
  };
}

/** @param operations what they do, by their names */
export const judgement = (initial: State, operations: ReadonlyMap<string, Apply>): Judgement<State> => ({
  initial,
  apply: (state, operation) => [operations.get(operation)?.(state) ?? { state, answer: 'no such operation' }],
  answerOf({ answer, error }) {
    if (error instanceof ApiError) return error.code;
    return error instanceof UndoError ? error.message : String(error ?? answer);
  },
  isFinal({ at, entries, titles }, run) {
    const { entries: told, ...is } = stateOf(run);
    return canonical(is) === canonical({ at, titles }) && tells(told, entries);
  },
  isSettled: ({ name }) => !/^(undo|import|repair)/.test(name),
  describe: (run) => canonical(stateOf(run)).replace(/0{8,}/g, '…'),
  check: (run) => [
    ...unkept(run),
    ...checkMerges(rowsOf(run)).map(({ kind, ids, detail }) => `${kind} ${canonical(ids)}: ${detail}`),
  ],
});

/** Promises that the rows do not tell of. */
function* unkept({ isThrottled, faults, events }: Run): Generator<string> {
  if (faults === 1 && isThrottled && events.includes('merge_left_pending'))
    yield 'throttling has ended the moves of a merge';
}
