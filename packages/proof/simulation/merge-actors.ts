/** The actors that merge, undo, import and finish, and the table before they begin. */

import { set } from '../../../lib/dynamodb/expression.ts';
import { type Key, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import { updateRow } from '../../../lib/dynamodb/row.ts';
import { recordOfEntity } from '../../../lib/ingest/records.ts';
import { rowsOf } from '../../../lib/ingest/write-records.ts';
import type { Sizes } from '../../../lib/operations/merge-alerts/commit.ts';
import { createFinishMerges, OVERDUE } from '../../../lib/operations/merge-alerts/finish.ts';
import { createMergeAlerts } from '../../../lib/operations/merge-alerts/merge.ts';
import { readFeed } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import { checkAccount } from '../../admin/check/check.ts';
import { checkMerges } from '../../admin/check/check-merges.ts';
import { readMergeRows } from '../../admin/check/read-rows.ts';
import { repair } from '../../admin/check/repair.ts';
import { readSnapshot } from '../../admin/incidents/snapshot.ts';
import { undoMerge } from '../../admin/incidents/undo-merge.ts';
import { connectDouble } from './double-client.ts';
import {
  ACCOUNT,
  type Apply,
  exported,
  imported,
  type Merge,
  merged,
  repaired,
  type State,
  shown,
  TITLE,
  undone,
} from './merge-model.ts';
import { type Actor, actor, inTurn, loadLines, rowsAfter } from './scenario.ts';
import { callOf, depsOver, id, START_MS, type Surroundings } from './surroundings.ts';
import { type Rows, TableDouble } from './table-double.ts';
import type { Message } from './transition-system.ts';
import { canonical, type Item } from './values.ts';

export const [ONE, TWO, THREE] = [1, 2, 3].map(id) as [string, string, string];
export const [A, B, C, NEW] = [11, 12, 13, 14].map(id) as [string, string, string, string];

const HOUR_MS = 3_600_000;

/** A merge of one alert is small, one of more is large; two alerts are moved at a time. */
export const SIZES = { transactionItems: 3 } as const satisfies Sizes;

/** An actor, and what its operations do in the model, by their names. */
export interface MergeActor extends Actor {
  readonly operations: ReadonlyMap<string, Apply>;
}

const mergeActor = (
  name: string,
  act: (at: Surroundings) => Promise<unknown>,
  apply: Apply,
  more?: Partial<Actor>,
): MergeActor => ({ ...actor(name, act, more), operations: new Map([[name, apply]]) });

/** Its answer says nothing. */
const done =
  (change: (state: State) => State): Apply =>
  (state) => ({ state: change(state), answer: 'done' });
const unchanged = done((state) => state);

interface Own extends Sizes, Partial<Pick<Actor, 'aheadMs'>> {
  /** The call's time limit, if it is short. */
  timeMs?: number;
  /** The merge code to run; absent: this tree's. */
  code?: () => Promise<typeof createMergeAlerts>;
}

const MEMBER = 7;

const bodyOf = ({ alerts, into, title, owner }: Merge) => ({
  alert_ids: alerts,
  incident_id: into,
  ...(title !== undefined && { title }),
  ...(owner !== undefined && { owner_id: owner }),
});

export function merge(name: string, what: Merge, { aheadMs, timeMs, code, ...own }: Own = {}): MergeActor {
  const sizes = { ...SIZES, ...own };
  const act = async ({ deps }: Surroundings) => {
    const create = (await code?.()) ?? createMergeAlerts;
    const call = callOf(bodyOf(what), ACCOUNT, what.key);
    await create(deps, sizes)(timeMs === undefined ? call : { ...call, signal: AbortSignal.timeout(timeMs) });
    return 'done';
  };
  return mergeActor(name, act, (state) => merged(state, what), aheadMs === undefined ? {} : { aheadMs });
}

/** A caller that repeats the merge with the same key, whatever the outcome was. */
export function withRetry(name: string, what: Merge, own: Own = {}): MergeActor {
  const calls = [name, `${name} again`].map((each) => merge(each, { ...what, key: name }, own));
  return oneByOne(name, ...calls);
}

/** Merges of one process, one after the other. */
export const oneByOne = (name: string, ...calls: readonly MergeActor[]): MergeActor => ({
  ...calls[0],
  ...inTurn(name, ...calls.map(({ script }) => script)),
  again: false,
  operations: new Map(calls.flatMap(({ operations }) => [...operations])),
});

/** Undoes the merge that undo scenarios begin with. */
export function undo(name: string): MergeActor {
  const act = async ({ deps }: Surroundings) => {
    const request = { account: ACCOUNT, incidentId: TWO, sequence: undoneSequence, by: 'operator', requestId: name };
    const { moves, left } = await undoMerge(deps, request, SIZES);
    return canonical({ moves: moves.map(({ alertId }) => alertId).sort(), left: left.toSorted() });
  };
  return mergeActor(name, act, undone);
}

const alertLine = (alert_id: string, incident_id?: string) => {
  const placed = incident_id !== undefined && { incident_id };
  return { kind: 'alert', account_id: ACCOUNT, alert_id, ...placed, title: TITLE };
};
const incidentLine = (incident_id: string, title: string) => {
  return { kind: 'incident', account_id: ACCOUNT, incident_id, title };
};

/** An operator who repeats a failed import of a row. */
function load(name: string, line: object, apply: (state: State) => State): MergeActor {
  const act = async ({ deps: { table } }: Surroundings) => {
    await loadLines(table, line);
    return 'done';
  };
  return mergeActor(name, act, done(apply), { again: true, repeats: true });
}

export const loadAlert = (alert: string, into: string, name = `import of alert ${Number(`0x${alert}`)}`) =>
  load(name, alertLine(alert, into), (state) => imported(state, alert, into));

export const loadIncident = (incident: string, title: string) =>
  load(`import of incident ${Number(`0x${incident}`)}`, incidentLine(incident, title), (state) => ({
    ...state,
    titles: { ...state.titles, [incident]: title },
  }));

/** A record of the feed, which is delivered again when it failed. */
function record(name: string, at_ms: number, line: object, apply: (state: State) => State): MergeActor {
  const act = async ({ deps: { table } }: Surroundings) => {
    for (const { write } of rowsOf([recordOfEntity({ ...line, at_ms } as never)])) await write(table);
    return 'done';
  };
  return mergeActor(name, act, done(apply), { again: true, repeats: true });
}

/** Of an alert, which it creates where there is none; it moves none. An early one has another title, which the other prevails over. */
export const alertRecord = (alert: string, into: string, when: 'early' | 'late' = 'late') =>
  record(
    `record of alert ${Number(`0x${alert}`)}, ${when}`,
    START_MS - (when === 'early' ? 2 : 1),
    { ...alertLine(alert, into), ...(when === 'early' && { title: 'early' }) },
    (state) => (alert in state.at ? state : { ...state, at: { ...state.at, [alert]: into } }),
  );

/** A record of an incident from before all merges: what they changed stays. */
export const incidentRecord = (incident: string, when: 'early' | 'late') =>
  record(
    `record of incident ${Number(`0x${incident}`)}, ${when}`,
    START_MS - (when === 'early' ? 2 : 1),
    incidentLine(incident, when),
    (state) => {
      const prevail = TITLES.indexOf(when) > TITLES.indexOf(state.titles[incident] ?? '');
      return prevail ? { ...state, titles: { ...state.titles, [incident]: when } } : state;
    },
  );
/** Each prevails over those before it; the last is that of merges. */
const TITLES = ['first', 'early', 'late', 'second'];

/** Of an incident, later than all merges by its clock: a merge that comes after it prevails, also over its repetition. */
export function latestRecord(incident: string): MergeActor {
  const name = `record of incident ${Number(`0x${incident}`)}, latest`;
  return record(name, START_MS + HOUR_MS, incidentLine(incident, 'latest'), (state) =>
    name in state.used
      ? state
      : { ...state, titles: { ...state.titles, [incident]: 'latest' }, used: { ...state.used, [name]: name } },
  );
}

const LINES = [
  { kind: 'account', account_id: ACCOUNT, name: 'Acme', permissions: [] },
  { kind: 'member', account_id: ACCOUNT, member_id: MEMBER, name: 'Ada' },
  ...[ONE, TWO, THREE].map((incident) => incidentLine(incident, 'first')),
  ...[A, B].map((alert) => alertLine(alert, ONE)),
  alertLine(C),
];
export const UNTOUCHED: State = {
  at: { [A]: ONE, [B]: ONE, [C]: 'none' },
  by: {},
  entries: [],
  titles: Object.fromEntries([ONE, TWO, THREE].map((incident) => [incident, 'first'])),
  owners: {},
  used: {},
};

/** An operator who exports the account's incidents and alerts. */
export function exporting(name: string): MergeActor {
  const act = async ({ deps: { table } }: Surroundings) => canonical(shown(await readSnapshot(table, ACCOUNT)));
  return mergeActor(name, act, exported, { mostCalls: 60 });
}

/** An operator who repairs until nothing is left to repair. */
export function repairing(name: string): MergeActor {
  const act = async ({ deps: { table } }: Surroundings) => {
    for (;;) {
      const findings = await checkAccount(table, ACCOUNT, START_MS + HOUR_MS);
      if (findings.every(({ fixes }) => fixes.length === 0)) return 'done';
      await repair(table, findings);
    }
  };
  return mergeActor(name, act, unchanged, { again: true, repeats: true, mostCalls: 300 });
}

/** An operator who repairs once and gets the number of repairs. */
export function repairOnce(name: string): MergeActor {
  const act = async ({ deps: { table } }: Surroundings) => {
    const { fixed } = await repair(table, checkMerges(await readMergeRows(table, ACCOUNT)));
    return `${fixed} fixed`;
  };
  return mergeActor(name, act, repaired, { again: true, repeats: true, mostCalls: 60 });
}

/** Sequence of the merge that undo scenarios begin with. */
let undoneSequence = 0;

/** Exactly these merges are done. */
export const afterMerges = (merges: readonly Merge[]) => async () => [
  await rowsAfter(LINES, async ({ deps }) => {
    for (const what of merges) {
      const now = () => START_MS - (what.longAgo ? 25 * HOUR_MS : 0);
      await createMergeAlerts({ ...deps, now }, SIZES)(callOf(bodyOf(what), ACCOUNT, what.key));
    }
    undoneSequence = (await readFeed(deps.table, ACCOUNT, TWO))[0]?.entry.sequence ?? 0;
  }),
];

/** The table after something other than a merge has moved this alert. */
export const misplaced = (alert: string) => async () => [
  await rowsAfter(LINES, async ({ deps }) => {
    await createMergeAlerts(deps)(callOf(bodyOf({ alerts: [alert], into: TWO }), ACCOUNT));
    await updateRow(deps.table, keys.alert(ACCOUNT, alert), set({ incident_id: THREE }));
  }),
];

/** The tables that a restore can leave: each row as it was before some merges, or as one of their writes left it. */
export const torn = (merges: readonly Merge[], sizes: Sizes) => async (): Promise<Rows[]> => {
  const double = new TableDouble(await rowsAfter(LINES));
  const { rows: before } = double;
  const versions = new Map<string, (RowAs | undefined)[]>();
  const table = connectDouble(async (request) => {
    const reply = double.apply(request);
    for (const [name, row] of double.rows) {
      const known = versions.get(name) ?? [before.get(name)];
      if (known.at(-1) !== row) versions.set(name, [...known, row]);
    }
    return reply;
  });
  for (const what of merges)
    await createMergeAlerts(depsOver(table), { ...SIZES, ...sizes })(callOf(bodyOf(what), ACCOUNT, what.key));
  const changed = [...versions].filter(([, each]) => each.length > 1);
  return changed.reduce<Rows[]>(
    (all, [name, each]) =>
      all.flatMap((rows) =>
        each.map((row) => new Map([...rows].filter(([other]) => other !== name).concat(row ? [[name, row]] : []))),
      ),
    [before],
  );
};
type RowAs = Rows extends ReadonlyMap<string, infer Row> ? Row : never;

/** The schedule, an hour later. */
export function sweep(name: string): MergeActor {
  const act = async ({ deps }: Surroundings) => {
    const later = { ...deps, now: () => deps.now() + HOUR_MS };
    await createFinishMerges(later, SIZES.transactionItems)(OVERDUE, { getRemainingTimeInMillis: () => 60_000 });
    return 'done';
  };
  return mergeActor(name, act, unchanged);
}

/** The messages that stream and queue deliver for a large entry. */
export function finishingOf(item: Item, transactionItems: number): Message | undefined {
  const key = { pk: item.pk, sk: item.sk } as Key;
  if (!item.large || parseKey(key)?.kind !== 'feedEntry') return undefined;
  const Records = [{ body: JSON.stringify(key) }] as never;
  return {
    name: `finish-merges for ${parseKey(key)?.parts.join(' ')}`.replace(/0{8,}/g, '…'),
    script: ({ deps }) =>
      createFinishMerges(deps, transactionItems)({ Records }, { getRemainingTimeInMillis: () => 60_000 }),
  };
}
