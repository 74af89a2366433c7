/** Merges, their undoing, and what finishes large ones. */
import { ApiError } from '../../lib/api/errors.ts';
import { checkMerges } from '../../lib/check/merges.ts';
import { mergeRowsOf } from '../../lib/check/read.ts';
import { createFinishMerges } from '../../lib/incidents/finish-merges.ts';
import { createMergeAlerts } from '../../lib/incidents/merge-alerts.ts';
import type { FeedItem } from '../../lib/incidents/read.ts';
import { UndoError, undoMerge } from '../../lib/incidents/undo-merge.ts';
import type { Key } from '../../lib/table/keys.ts';
import { parseKey } from '../../lib/table/keys.ts';
import { TABLE_NAME } from './double-client.ts';
import type { Scenario } from './explore.ts';
import { type Actor, actor, callOf, inTurn, type Judgement, rowsAfter, scenarioOf } from './scenario.ts';
import { canonical, type Item } from './values.ts';
import { id, type Surroundings, type World } from './world.ts';

const ACCOUNT = 1;
/** What one transaction holds, so that merges of one alert are small, and those of two or more large. */
const TRANSACTION_ITEMS = 3;
const [ONE, TWO, THREE] = [1, 2, 3].map(id) as [string, string, string];
const ALERTS = [11, 12, 13].map(id);

interface Merge {
  alerts: string[];
  into: string;
  title?: string;
  key?: string;
}

/** As the feeds tell of it; of an undoing `moves` says where alerts went, of a merge where they came from. */
interface Entry {
  kind: 'merge' | 'merge_undone';
  incident: string;
  moves: Readonly<Record<string, string>>;
  stayed: readonly string[];
}

interface State {
  /** The incident of each alert; 'none' where there is none. */
  at: Readonly<Record<string, string>>;
  /** The entry that moved an alert last; absent: none has. */
  by: Readonly<Record<string, number>>;
  entries: readonly Entry[];
  titles: Readonly<Record<string, string>>;
  /** Idempotency-Keys. */
  used: readonly string[];
}

/** What operations do, by their names. */
const operations = new Map<string, (state: State) => { state: State; answer: string }>();

function merged(state: State, { alerts, into, title, key }: Merge): { state: State; answer: string } {
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
  return {
    at: { ...state.at, ...each(to) },
    by: { ...state.by, ...each(() => state.entries.length) },
    entries: [...state.entries, entry],
    titles: title === undefined ? state.titles : { ...state.titles, [entry.incident]: title },
    used: key === undefined ? state.used : [...state.used, key],
  };
}

/** Of the first merge. */
function undone(state: State): { state: State; answer: string } {
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

const bodyOf = ({ alerts, into, title }: Merge) => ({
  alert_ids: alerts,
  incident_id: into,
  ...(title !== undefined && { title }),
});

function merge(name: string, what: Merge, more: Partial<Actor> & { items?: number } = {}): Actor {
  operations.set(name, (state) => merged(state, what));
  return actor(
    name,
    async ({ deps }: Surroundings) => {
      await createMergeAlerts(deps, { transactionItems: more.items ?? TRANSACTION_ITEMS })(
        callOf(bodyOf(what), ACCOUNT, what.key),
      );
      return 'done';
    },
    more,
  );
}

/** A caller that says it again under the same key, whatever became of it. */
const withRetry = (name: string, what: Merge, items = TRANSACTION_ITEMS): Actor =>
  inTurn(name, ...[name, `${name} again`].map((each) => merge(each, { ...what, key: name }, { items }).script));

const undo = (name: string): Actor => {
  operations.set(name, undone);
  return actor(name, async ({ deps }) => {
    const request = { account: ACCOUNT, incidentId: TWO, sequence: firstSequence, by: 'operator', requestId: name };
    const { moves, left } = await undoMerge(deps, request, TRANSACTION_ITEMS);
    return canonical({ moves: moves.map(({ alertId }) => alertId).sort(), left: left.toSorted() });
  });
};

const alertLine = (alert_id: string, incident_id: string) => ({
  kind: 'alert',
  account_id: ACCOUNT,
  alert_id,
  incident_id,
  title: 'Alert',
});
const LINES = [
  { kind: 'account', account_id: ACCOUNT, name: 'Acme', permissions: [] },
  ...[ONE, TWO, THREE].map((incident_id) => ({ kind: 'incident', account_id: ACCOUNT, incident_id, title: 'first' })),
  ...ALERTS.map((alert) => alertLine(alert, ONE)),
];
const UNTOUCHED: State = {
  at: Object.fromEntries(ALERTS.map((alert) => [alert, ONE])),
  by: {},
  entries: [],
  titles: Object.fromEntries([ONE, TWO, THREE].map((incident) => [incident, 'first'])),
  used: [],
};

/** Of the merge that scenarios of undoing begin with. */
let firstSequence = 0;

/** Nothing else is done yet. */
const fresh = () => rowsAfter(LINES);
/** The alerts are merged into incident 2. */
const afterMerge = (alerts: string[]) => () =>
  rowsAfter(LINES, async ({ deps }) => {
    firstSequence = deps.now();
    await createMergeAlerts(deps)(callOf(bodyOf({ alerts, into: TWO }), ACCOUNT));
  });

/** What the stream and the queue bring of a large entry. */
function onRecord(item: Item): Actor | undefined {
  const key = { pk: item.pk, sk: item.sk } as Key;
  if (!item.large || parseKey(key)?.kind !== 'feedEntry') return undefined;
  const Records = [{ body: JSON.stringify(key) }] as never;
  return {
    name: `finish-merges for ${parseKey(key)?.parts.join(' ')}`.replace(/0{8,}/g, '…'),
    script: ({ deps }) =>
      createFinishMerges(deps, TRANSACTION_ITEMS)({ Records }, { getRemainingTimeInMillis: () => 60_000 }),
  };
}

const rowsOf = ({ double }: World) => mergeRowsOf(ACCOUNT, double.items() as never);

function stateOf(world: World): Pick<State, 'at' | 'entries' | 'titles'> {
  const { alerts, incidents, entries } = rowsOf(world);
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

const judgement = (initial: State): Judgement<State> => ({
  initial,
  apply: (state, operation) => [operations.get(operation)?.(state) ?? { state, answer: 'no such operation' }],
  answerOf({ answer, error }) {
    if (error instanceof ApiError) return error.code;
    return error instanceof UndoError ? error.message : String(error ?? answer);
  },
  isFinal: ({ at, entries, titles }, world) => canonical({ at, entries, titles }) === canonical(stateOf(world)),
  isSettled: ({ name }) => !name.startsWith('undo'),
  describe: (world) => canonical(stateOf(world)).replace(/0{8,}/g, '…'),
  check: (world) => [
    ...unkept(world),
    ...checkMerges(rowsOf(world), TABLE_NAME).map(({ kind, ids, detail }) => `${kind} ${canonical(ids)}: ${detail}`),
  ],
});

/** Promises that the rows do not tell of. */
function* unkept({ taken, faults, events }: World): Generator<string> {
  const isOnlyThrottled = faults.length === 1 && taken.some((step) => step.includes('is throttled: TransactWrite'));
  if (isOnlyThrottled && events.includes('merge_left_pending')) yield 'throttling has ended the moves of a merge';
}

const scenario = (name: string, cost: Scenario['cost'], ...actors: Actor[]): Scenario =>
  scenarioOf(name, fresh, actors, judgement(UNTOUCHED), { cost, onRecord });

const after = (name: string, cost: Scenario['cost'], alerts: string[], ...actors: Actor[]): Scenario =>
  scenarioOf(name, afterMerge(alerts), actors, judgement(merged(UNTOUCHED, { alerts, into: TWO }).state), {
    cost,
    onRecord,
  });

const [A, B, C] = ALERTS as [string, string, string];

export const MERGES: readonly Scenario[] = [
  scenario(
    'merges of an alert that does not exist',
    1,
    merge('small of none', { alerts: [id(99)], into: TWO }),
    merge('large of some', { alerts: [A, id(99)], into: THREE }),
  ),
  scenario(
    'two small merges of one alert',
    1,
    merge('small 1', { alerts: [A], into: TWO, title: 'second' }, { items: 4 }),
    merge('small 2', { alerts: [A], into: THREE }),
  ),
  scenario(
    'three small merges of one alert',
    3,
    ...[TWO, THREE, ONE].map((into, index) => merge(`one of three ${index}`, { alerts: [A], into })),
  ),
  scenario(
    'two small merges, each said again under its key',
    2,
    withRetry('keyed 1', { alerts: [A], into: TWO }, 4),
    withRetry('keyed 2', { alerts: [A], into: THREE }, 4),
  ),
  // Whose clock is ahead is told by their order.
  scenario(
    'a large and a small merge of one alert',
    4,
    merge('large', { alerts: [A, B], into: THREE }),
    merge('small', { alerts: [A], into: TWO }),
  ),
  scenario(
    'a small and a large merge of one alert',
    4,
    merge('small', { alerts: [A], into: TWO }),
    merge('large', { alerts: [A, B], into: THREE }),
  ),
  scenario(
    'two large merges that share an alert',
    4,
    merge('large 1', { alerts: [A, B], into: TWO }),
    merge('large 2', { alerts: [B, C], into: THREE }),
  ),
  scenario('a large merge, said again under its key', 2, withRetry('keyed large', { alerts: [A, B], into: TWO })),
  after(
    'a merge against the undoing of an earlier one',
    2,
    [A],
    merge('merge', { alerts: [A], into: THREE }),
    undo('undo'),
  ),
  after(
    'a large merge against the undoing of an earlier one',
    4,
    [A, B],
    merge('large', { alerts: [A, B], into: THREE }),
    undo('undo'),
  ),
  after('two undoings of one merge', 2, [A], undo('undo 1'), undo('undo 2')),
  after('two large undoings of one merge', 4, [A, B], undo('undo 1'), undo('undo 2')),
  scenario(
    'a large merge that outlives its holder',
    2,
    merge('three', { alerts: [C, A, B], into: TWO, title: 'second' }, { items: 3 }),
  ),
  scenario(
    'a large merge of alerts that stay, and a small one',
    4,
    merge('staying', { alerts: [A, B], into: ONE }),
    merge('taking', { alerts: [A], into: TWO }),
  ),
];
