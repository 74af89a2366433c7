/** A plain sequential model of merges, undos and imports, and its comparison with the table. */

import { ofKind, type Stored } from '../../../lib/dynamodb/keys.ts';
import type { AlertRow, IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { ApiError } from '../../../lib/http/errors.ts';
import type { FeedEntryWithAlerts } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import { checkMerges } from '../../admin/check/check-merges.ts';
import type { Finding } from '../../admin/check/finding.ts';
import { mergeRowsOf } from '../../admin/check/read-rows.ts';
import { UndoError } from '../../admin/incidents/undo-merge.ts';
import type { Judgement } from './scenario.ts';
import type { Outcome as Run } from './transition-system.ts';
import { canonical } from './values.ts';

export const ACCOUNT = 1;
/** Of each alert. */
export const TITLE = 'Alert';

export interface Merge {
  alerts: string[];
  into: string;
  title?: string;
  owner?: number;
  key?: string;
  /** It was done so long ago that its key has expired. */
  longAgo?: true;
}

/** An entry as the feeds record it: `moves` of an undo says where alerts went, of a merge where they came from. */
export interface Entry {
  kind: 'merge' | 'merge_undone';
  incident: string;
  moves: Readonly<Record<string, string>>;
  stayed: readonly string[];
  /** Alerts that were imported since: a large entry that has not moved them yet skips them and does not record them. */
  imported?: readonly string[];
}

export interface State {
  /** The incident of each alert; 'none' where there is none. */
  at: Readonly<Record<string, string>>;
  /** The latest entry that moved an alert or found it in its incident; absent: none. */
  by: Readonly<Record<string, number>>;
  entries: readonly Entry[];
  titles: Readonly<Record<string, string>>;
  owners: Readonly<Record<string, number>>;
  /** Bodies by their Idempotency-Keys. */
  used: Readonly<Record<string, string>>;
}

export interface Outcome {
  state: State;
  answer: string;
}

/** What an operation does. */
export type Apply = (state: State) => Outcome;

export function merged(state: State, what: Merge): Outcome {
  const { alerts, into, title, owner, key, longAgo } = what;
  const body = canonical({ ...what, key: undefined });
  const known = key === undefined ? undefined : state.used[key];
  if (known !== undefined) return { state, answer: known === body ? 'done' : 'InvalidParameter' };
  if (alerts.some((alert) => !(alert in state.at))) return { state, answer: 'ResourceNotFound' };
  const moving = alerts.filter((alert) => state.at[alert] !== into);
  const entry: Entry = {
    kind: 'merge',
    incident: into,
    moves: Object.fromEntries(moving.map((alert) => [alert, state.at[alert] as string])),
    stayed: alerts.filter((alert) => !moving.includes(alert)).sort(),
  };
  const after = withEntry(state, entry, () => into);
  return {
    state: {
      ...after,
      titles: title === undefined ? after.titles : { ...after.titles, [into]: title },
      owners: owner === undefined ? after.owners : { ...after.owners, [into]: owner },
      used: key === undefined || longAgo ? after.used : { ...after.used, [key]: body },
    },
    answer: 'done',
  };
}

function withEntry(state: State, entry: Entry, to: (alert: string) => string): State {
  const each = <Value>(alerts: readonly string[], value: (alert: string) => Value) =>
    Object.fromEntries(alerts.map((alert) => [alert, value(alert)]));
  const moving = Object.keys(entry.moves);
  return {
    ...state,
    at: { ...state.at, ...each(moving, to) },
    by: { ...state.by, ...each([...moving, ...entry.stayed], () => state.entries.length) },
    entries: [...state.entries, entry],
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
  return { state: withEntry(state, entry, (alert) => back[alert] as string), answer };
}

/** Alerts are where the feeds say they are. */
export function repaired(state: State): Outcome {
  const at = { ...state.at };
  for (const { kind, incident, moves } of state.entries)
    for (const [alert, other] of Object.entries(moves)) at[alert] = kind === 'merge' ? incident : other;
  const fixed = Object.keys(at).filter((alert) => at[alert] !== state.at[alert]).length;
  return { state: { ...state, at }, answer: `${fixed} fixed` };
}

/** An imported alert belongs where the import says, whatever entries did with it. */
export function imported(state: State, alert: string, into: string): State {
  const { [alert]: _moved, ...by } = state.by;
  const entries = state.entries.map((entry) => ({ ...entry, imported: [...(entry.imported ?? []), alert] }));
  return { ...state, entries, by, at: { ...state.at, [alert]: into } };
}

/** Whether the feeds record what the model does. */
function agree(recorded: readonly Entry[], entries: readonly Entry[]): boolean {
  return (
    recorded.length === entries.length &&
    entries.every(({ imported: after = [], ...entry }, at) => {
      const own = recorded[at] as Entry;
      const moves = Object.entries(entry.moves).filter(([alert]) => alert in own.moves || !after.includes(alert));
      const stayed = entry.stayed.filter((alert) => own.stayed.includes(alert) || !after.includes(alert));
      return canonical({ ...entry, moves: Object.fromEntries(moves), stayed }) === canonical(own);
    })
  );
}

const rowsOf = ({ items }: Run) => mergeRowsOf(ACCOUNT, items as never);

function stateOf(run: Run): Pick<State, 'entries' | keyof Shown> {
  const { alerts, incidents, entries } = rowsOf(run);
  const entryOf = ({ entry, moves, stayed }: FeedEntryWithAlerts): Entry => ({
    kind: entry.kind,
    incident: entry.incident_id,
    moves: Object.fromEntries(
      moves.map(({ alertId, from, to }) => [alertId, (entry.kind === 'merge' ? from : to) ?? 'none']),
    ),
    stayed: stayed.toSorted(),
  });
  return {
    ...shown({ alerts: alerts.values(), incidents: incidents.values() }),
    entries: entries.toSorted((one, other) => one.entry.sequence - other.entry.sequence).map(entryOf),
  };
}

type Shown = Pick<State, 'at' | 'titles' | 'owners'>;

/** The state that rows of a table, or of an export, show. */
export function shown({
  alerts,
  incidents,
}: {
  alerts: Iterable<Pick<AlertRow, 'incident_id'> & { sk: string }>;
  incidents: Iterable<IncidentRow>;
}): Shown {
  const each = [...incidents];
  return {
    at: Object.fromEntries([...alerts].map(({ sk, incident_id }) => [sk, incident_id ?? 'none'])),
    titles: Object.fromEntries(each.map(({ incident_id, title }) => [incident_id, title])),
    owners: Object.fromEntries(
      each.flatMap(({ incident_id, owner_id }) => (owner_id === undefined ? [] : [[incident_id, Number(owner_id)]])),
    ),
  };
}

/** The state of an export, which contains each merge in full or not at all. */
export const exported = (state: State): Outcome => {
  const { at, titles, owners } = state;
  return { state, answer: canonical({ at, titles, owners }) };
};

/** Where a restore has lost the earlier state, the check reports it, and the right rows are unknown. */
const isUnknown = ({ fixes }: Finding) => fixes.length === 0;

/** @param operations the model's operations, by their names */
export const judgement = (initial: State, operations: ReadonlyMap<string, Apply>): Judgement<State> => ({
  initial,
  apply: (state, operation) => [operations.get(operation)?.(state) ?? { state, answer: 'no such operation' }],
  answerOf({ answer, error }) {
    if (error instanceof ApiError) return error.code;
    return error instanceof UndoError ? error.message : String(error ?? answer);
  },
  isFinal(state, run) {
    if (checkMerges(rowsOf(run)).some(isUnknown)) return true;
    const { entries: recorded, ...is } = stateOf(run);
    return canonical(is) === exported(state).answer && agree(recorded, state.entries);
  },
  isSettled: ({ name }) => !/^(undo|import|repair|export|record)/.test(name),
  describe: (run) => canonical(stateOf(run)).replace(/0{8,}/g, '…'),
  check(run) {
    const findings = checkMerges(rowsOf(run));
    if (findings.some(isUnknown)) return [];
    return [...unkept(run), ...findings.map(({ kind, ids, detail }) => `${kind} ${canonical(ids)}: ${detail}`)];
  },
});

/** Promises that feeds and assignments do not show. */
function* unkept(run: Run): Generator<string> {
  const { isThrottled, faults, events, items } = run;
  const moved = rowsOf(run).entries.flatMap(({ entry, moves, stayed }) => [
    ...moves.map(({ alertId, from }) => ({ alertId, from, by: entry.sequence })),
    ...stayed.map((alertId) => ({ alertId, from: entry.incident_id, by: entry.sequence })),
  ]);
  for (const { pk: _pk, sk, ...alert } of ofKind('alert', items as never as Stored<'alert'>[])) {
    const { incident_id: _in, stayed_sequence: _stayed, loaded_after: _loaded, ...more } = alert;
    const {
      moved_sequence,
      moved_from,
      previous_sequence: _previous,
      feed_order: _order,
      ...rest
    } = more as typeof more & {
      feed_order?: unknown;
    };
    if (canonical(rest) !== canonical({ alert_id: sk, title: TITLE }))
      yield `alert ${sk} has become ${canonical(rest)}`;
    const move = moved.find(({ alertId, by }) => alertId === sk && by === moved_sequence);
    if (move?.from !== moved_from) yield `alert ${sk} notes that it came from ${moved_from}, not ${move?.from}`;
  }
  if (faults === 1 && isThrottled && events.includes('merge_left_pending'))
    yield 'throttling has ended the moves of a merge';
}
