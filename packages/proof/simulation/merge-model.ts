/** A sequential model of merges, undos and imports, and its comparison with the table. */

import { ofKind, type Stored } from '../../../lib/dynamodb/keys.ts';
import type { AlertRow, IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { ApiError } from '../../../lib/http/errors.ts';
import type { FeedEntryWithAlerts } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import { checkMerges } from '../../admin/check/check-merges.ts';
import type { Finding } from '../../admin/check/finding.ts';
import { mergeRowsOf } from '../../admin/check/read-rows.ts';
import { UndoError } from '../../admin/incidents/undo-merge.ts';
import type { Outcome } from './linearizability.ts';
import { ACCOUNT, type Judgement } from './scenario.ts';
import type { FinishedRun } from './state.ts';
import { canonical } from './values.ts';

/** The title of each alert. */
export const TITLE = 'Alert';

/** What a merge is asked to do. */
export interface Merge {
  alerts: string[];
  into: string;
  title?: string;
  owner?: number;
  key?: string;
  /** It was done more than a day ago, so that its key has expired. */
  longAgo?: true;
}

/** An entry as the feeds record it: `moves` says where the alerts of an undo went, or where those of a merge came from. */
export interface Entry {
  kind: 'merge' | 'merge_undone';
  incident: string;
  moves: Readonly<Record<string, string>>;
  stayed: readonly string[];
  /** Alerts that were imported since. A large entry that has not moved them yet skips them, and need not record them. */
  imported?: readonly string[];
}

export interface State {
  /** The incident of each alert; 'none' where there is none. */
  incidentOf: Readonly<Record<string, string>>;
  /** Index of the latest entry that moved the alert or found it in its incident; absent: none. */
  latestOf: Readonly<Record<string, number>>;
  entries: readonly Entry[];
  titles: Readonly<Record<string, string>>;
  owners: Readonly<Record<string, number>>;
  /** Bodies of merges by their Idempotency-Keys; names of the records that were written once. */
  used: Readonly<Record<string, string>>;
}

/** Merges alerts into an incident, unless the request repeats a key or names an unknown alert. */
export function merged(state: State, request: Merge): Outcome<State> {
  const { alerts, into, title, owner, key, longAgo } = request;
  const body = canonical({ ...request, key: undefined });
  const known = key === undefined ? undefined : state.used[key];
  if (known !== undefined) return { state, answer: known === body ? 'done' : 'InvalidParameter' };
  if (alerts.some((alert) => !(alert in state.incidentOf))) return { state, answer: 'ResourceNotFound' };
  const moving = alerts.filter((alert) => state.incidentOf[alert] !== into);
  const entry: Entry = {
    kind: 'merge',
    incident: into,
    moves: Object.fromEntries(moving.map((alert) => [alert, state.incidentOf[alert] as string])),
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
  const record = <Value>(alerts: readonly string[], value: (alert: string) => Value) =>
    Object.fromEntries(alerts.map((alert) => [alert, value(alert)]));
  const moving = Object.keys(entry.moves);
  return {
    ...state,
    incidentOf: { ...state.incidentOf, ...record(moving, to) },
    latestOf: { ...state.latestOf, ...record([...moving, ...entry.stayed], () => state.entries.length) },
    entries: [...state.entries, entry],
  };
}

/** Undoes the first merge: alerts go back unless a later entry or an import has taken them. */
export function undone(state: State): Outcome<State> {
  const merge = state.entries[0] as Entry;
  const back = Object.fromEntries(
    Object.entries(merge.moves).filter(
      ([alert]) => state.incidentOf[alert] === merge.incident && (state.latestOf[alert] ?? 0) === 0,
    ),
  );
  const moves = Object.keys(back).sort();
  const notMoved = Object.keys(merge.moves)
    .filter((alert) => !moves.includes(alert))
    .sort();
  const answer = canonical({ moves, left: notMoved });
  if (moves.length === 0) return { state, answer };
  const entry: Entry = { kind: 'merge_undone', incident: merge.incident, moves: back, stayed: [] };
  return { state: withEntry(state, entry, (alert) => back[alert] as string), answer };
}

/** Puts alerts where the feeds say that they are. */
export function repaired(state: State): Outcome<State> {
  const incidentOf = { ...state.incidentOf };
  for (const { kind, incident, moves } of state.entries)
    for (const [alert, origin] of Object.entries(moves)) incidentOf[alert] = kind === 'merge' ? incident : origin;
  const fixed = Object.keys(incidentOf).filter((alert) => incidentOf[alert] !== state.incidentOf[alert]).length;
  return { state: { ...state, incidentOf }, answer: `${fixed} fixed` };
}

/** Puts an alert where the import says. Entries before the import no longer apply to it. */
export function imported(state: State, alert: string, into: string): State {
  const { [alert]: _moved, ...latestOf } = state.latestOf;
  const entries = state.entries.map((entry) => ({ ...entry, imported: [...(entry.imported ?? []), alert] }));
  return { ...state, entries, latestOf, incidentOf: { ...state.incidentOf, [alert]: into } };
}

/** Whether the feeds record the entries of the model. */
function feedsAgree(recorded: readonly Entry[], entries: readonly Entry[]): boolean {
  return (
    recorded.length === entries.length &&
    entries.every(({ imported: importedSince = [], ...entry }, index) => {
      const stored = recorded[index] as Entry;
      const moves = Object.entries(entry.moves).filter(
        ([alert]) => alert in stored.moves || !importedSince.includes(alert),
      );
      const stayed = entry.stayed.filter((alert) => stored.stayed.includes(alert) || !importedSince.includes(alert));
      return canonical({ ...entry, moves: Object.fromEntries(moves), stayed }) === canonical(stored);
    })
  );
}

const rowsOf = ({ items }: FinishedRun) => mergeRowsOf(ACCOUNT, items as never);

function stateOf(run: FinishedRun): Visible & Pick<State, 'entries'> {
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
    ...visibleIn({ alerts: alerts.values(), incidents: incidents.values() }),
    entries: entries.toSorted((a, b) => a.entry.sequence - b.entry.sequence).map(entryOf),
  };
}

type Visible = Pick<State, 'incidentOf' | 'titles' | 'owners'>;

/** What rows of a table, or of an export, show of the state. */
export function visibleIn({
  alerts,
  incidents,
}: {
  alerts: Iterable<Pick<AlertRow, 'incident_id'> & { sk: string }>;
  incidents: Iterable<IncidentRow>;
}): Visible {
  const listed = [...incidents];
  return {
    incidentOf: Object.fromEntries([...alerts].map(({ sk, incident_id }) => [sk, incident_id ?? 'none'])),
    titles: Object.fromEntries(listed.map(({ incident_id, title }) => [incident_id, title])),
    owners: Object.fromEntries(
      listed.flatMap(({ incident_id, owner_id }) => (owner_id === undefined ? [] : [[incident_id, Number(owner_id)]])),
    ),
  };
}

/** An export has each merge as a whole or not at all. */
export function exported(state: State): Outcome<State> {
  const { incidentOf, titles, owners } = state;
  return { state, answer: canonical({ incidentOf, titles, owners }) };
}

/** The check does not know what the rows should be, since a restore has lost what they were before. */
const hasNoFix = ({ fixes }: Finding) => fixes.length === 0;

export const judgement = (initial: State): Judgement<State> => ({
  initial,
  answerOf({ answer, error }) {
    if (error instanceof ApiError) return error.code;
    return error instanceof UndoError ? error.message : String(error ?? answer);
  },
  stateOf,
  isFinal(state, run) {
    if (checkMerges(rowsOf(run)).some(hasNoFix)) return true;
    const { entries: recorded, ...visible } = stateOf(run);
    return canonical(visible) === exported(state).answer && feedsAgree(recorded, state.entries);
  },
  survivesLostReply: ({ name }) => !/^(undo|import|repair|export|record)/.test(name),
  check(run) {
    const findings = checkMerges(rowsOf(run));
    if (findings.some(hasNoFix)) return [];
    return [...brokenPromises(run), ...findings.map(({ kind, ids, detail }) => `${kind} ${canonical(ids)}: ${detail}`)];
  },
});

/** Finds promises that are broken, except those about the incidents of alerts and the entries of feeds, which the model covers. */
function* brokenPromises(run: FinishedRun): Generator<string> {
  const { isThrottled, faults, events, items } = run;
  const moved = rowsOf(run).entries.flatMap(({ entry, moves, stayed }) => [
    ...moves.map(({ alertId, from }) => ({ alertId, from, by: entry.sequence })),
    ...stayed.map((alertId) => ({ alertId, from: entry.incident_id, by: entry.sequence })),
  ]);
  for (const alert of ofKind('alert', items as never as Stored<'alert'>[])) {
    const { sk, moved_sequence, moved_from } = alert;
    const rest = Object.fromEntries(Object.entries(alert).filter(([name]) => !ASSIGNMENT_ATTRIBUTES.has(name)));
    if (canonical(rest) !== canonical({ alert_id: sk, title: TITLE }))
      yield `alert ${sk} has become ${canonical(rest)}`;
    const move = moved.find(({ alertId, by }) => alertId === sk && by === moved_sequence);
    if (move?.from !== moved_from) yield `alert ${sk} records that it came from ${moved_from}, not ${move?.from}`;
  }
  if (faults === 1 && isThrottled && events.includes('merge_left_pending'))
    yield 'throttling has ended the moves of a merge';
}

/** Attributes of an alert that say where it is and how it came there. */
const ASSIGNMENT_ATTRIBUTES = new Set([
  ...['pk', 'sk', 'incident_id', 'moved_sequence', 'moved_from', 'previous_sequence'],
  ...['loaded_after', 'feed_order'],
]);
