/** The actors of merge scenarios, and the tables that these start from. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import { set } from '../../../lib/dynamodb/expression.ts';
import { type Key, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import { updateRow } from '../../../lib/dynamodb/row.ts';
import type { MergeLimits } from '../../../lib/operations/merge-alerts/commit.ts';
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
import { callOf, depsOver, type Environment, id, START_MS } from './environment.ts';
import {
  exported,
  imported,
  type Merge,
  merged,
  repaired,
  type State,
  TITLE,
  undone,
  visibleIn,
} from './merge-model.ts';
import type { Actor } from './run.ts';
import {
  ACCOUNT,
  type Apply,
  accountLine,
  actor,
  HOUR_MS,
  inTurn,
  loadLines,
  type ModelledActor,
  rowsAfter,
  writeRecord,
} from './scenario.ts';
import type { Message } from './state.ts';
import { type Rows, TableDouble } from './table-double.ts';
import { canonical, type Item } from './values.ts';

/** The incidents. */
export const [ONE, TWO, THREE] = [1, 2, 3].map(id) as [string, string, string];
/** The alerts. NEW does not exist at the start. */
export const [A, B, C, NEW] = [11, 12, 13, 14].map(id) as [string, string, string, string];

/** Makes a merge of one alert small, and one of more alerts large, which then moves two at a time. */
export const MERGE_LIMITS = { transactionItems: 3 } as const satisfies MergeLimits;

type MergeActor = ModelledActor<State>;

const unchanged: Apply<State> = (state) => ({ state, answer: 'done' });

interface MergeOptions extends MergeLimits, Pick<Actor, 'aheadMs'> {
  /** A shorter time limit of the call. */
  timeMs?: number;
}

const bodyOf = ({ alerts, into, title, owner }: Merge) => ({
  alert_ids: alerts,
  incident_id: into,
  ...(title !== undefined && { title }),
  ...(owner !== undefined && { owner_id: owner }),
});

export function merge(name: string, request: Merge, options: MergeOptions = {}): MergeActor {
  const { aheadMs, timeMs, ...limits } = { ...MERGE_LIMITS, ...options };
  const run = async ({ deps }: Environment) => {
    const call = callOf(bodyOf(request), ACCOUNT, request.key);
    await createMergeAlerts(
      deps,
      limits,
    )(timeMs === undefined ? call : { ...call, signal: AbortSignal.timeout(timeMs) });
  };
  return actor(name, run, (state) => merged(state, request), { aheadMs });
}

/** Sends a merge twice with the same key, whatever the first outcome is. */
export const withRetry = (name: string, request: Merge, options?: MergeOptions): MergeActor =>
  inTurn(name, ...[name, `${name} again`].map((call) => merge(call, { ...request, key: name }, options)));

/** Undoes the first of the earlier merges. */
export function undo(name: string): MergeActor {
  const run = async ({ deps }: Environment) => {
    const request = { account: ACCOUNT, incidentId: TWO, sequence: undoneSequence, by: 'operator', requestId: name };
    const { moves, left } = await undoMerge(deps, request, MERGE_LIMITS);
    return canonical({ moves: moves.map(({ alertId }) => alertId).sort(), left: left.toSorted() });
  };
  return actor(name, run, undone);
}

const alertLine = (alert_id: string, incident_id?: string) => {
  const placed = incident_id !== undefined && { incident_id };
  return { kind: 'alert', account_id: ACCOUNT, alert_id, ...placed, title: TITLE };
};
const incidentLine = (incident_id: string, title: string) => {
  return { kind: 'incident', account_id: ACCOUNT, incident_id, title };
};

/** The number of an ObjectID that `id` has made. */
const numberOf = (objectId: string) => Number.parseInt(objectId, 16);

const withTitle = (state: State, incident: string, title: string): State => ({
  ...state,
  titles: { ...state.titles, [incident]: title },
});

/** An actor whose writes are repeated until they succeed: an operator's import, or a record of the feed. */
const repeatedly = (name: string, write: (table: Table) => Promise<void>, change: (state: State) => State) =>
  actor<State>(
    name,
    ({ deps }) => write(deps.table),
    (state) => ({ state: change(state), answer: 'done' }),
    { retried: true, mayApplyTwice: true },
  );

export const importAlert = (alert: string, into: string, name = `import of alert ${numberOf(alert)}`) =>
  repeatedly(
    name,
    (table) => loadLines(table, alertLine(alert, into)),
    (state) => imported(state, alert, into),
  );

export const importIncident = (incident: string, title: string) =>
  repeatedly(
    `import of incident ${numberOf(incident)}`,
    (table) => loadLines(table, incidentLine(incident, title)),
    (state) => withTitle(state, incident, title),
  );

/** A record of an alert. It creates the alert where there is none, and never moves it. The late record has the usual title. */
export const alertRecord = (alert: string, into: string, when: 'early' | 'late' = 'late') =>
  repeatedly(
    `record of alert ${numberOf(alert)}, ${when}`,
    (table) => writeRecord(table, { ...alertLine(alert, into), ...(when === 'early' && { title: 'early' }) }, when),
    (state) => (alert in state.incidentOf ? state : { ...state, incidentOf: { ...state.incidentOf, [alert]: into } }),
  );

/** A record of an incident that is older than all merges: it does not overwrite what they have changed. */
export const incidentRecord = (incident: string, when: 'early' | 'late') =>
  repeatedly(
    `record of incident ${numberOf(incident)}, ${when}`,
    (table) => writeRecord(table, incidentLine(incident, when), when),
    (state) => {
      const prevails = TITLES.indexOf(when) > TITLES.indexOf(state.titles[incident] ?? '');
      return prevails ? withTitle(state, incident, when) : state;
    },
  );
/** Titles in the order of their ages, oldest first: each overwrites those before it. Merges set the last one. */
const TITLES = ['first', 'early', 'late', 'second'];

/**
 * A record of an incident, with a time later than all merges. It overwrites what merges before it wrote; a merge that commits after it
 * overwrites it, and the same record written again does not.
 */
export function latestRecord(incident: string): MergeActor {
  const name = `record of incident ${numberOf(incident)}, latest`;
  return repeatedly(
    name,
    (table) => writeRecord(table, incidentLine(incident, 'latest'), 'latest'),
    (state) =>
      name in state.used ? state : { ...withTitle(state, incident, 'latest'), used: { ...state.used, [name]: name } },
  );
}

/** The account, the member who can own incidents, three incidents, alerts A and B in incident 1, and alert C in none. */
const LINES = [
  accountLine(ACCOUNT),
  { kind: 'member', account_id: ACCOUNT, member_id: 7, name: 'Ada' },
  ...[ONE, TWO, THREE].map((incident) => incidentLine(incident, 'first')),
  ...[A, B].map((alert) => alertLine(alert, ONE)),
  alertLine(C),
];
/** The model's state of these lines. */
export const UNTOUCHED: State = {
  incidentOf: { [A]: ONE, [B]: ONE, [C]: 'none' },
  latestOf: {},
  entries: [],
  titles: Object.fromEntries([ONE, TWO, THREE].map((incident) => [incident, 'first'])),
  owners: {},
  used: {},
};

/** An operator who exports the account's incidents and alerts. */
export function exporting(name: string): MergeActor {
  const run = async ({ deps: { table } }: Environment) => canonical(visibleIn(await readSnapshot(table, ACCOUNT)));
  return actor(name, run, exported, { maxCalls: 60 });
}

/** An operator who repairs until nothing is left to repair. */
export function repairing(name: string): MergeActor {
  const run = async ({ deps: { table } }: Environment) => {
    for (;;) {
      const findings = await checkAccount(table, ACCOUNT, START_MS + HOUR_MS);
      if (findings.every(({ fixes }) => fixes.length === 0)) return;
      await repair(table, findings);
    }
  };
  return actor(name, run, unchanged, { retried: true, mayApplyTwice: true, maxCalls: 300 });
}

/** An operator who repairs once and gets the number of repairs. */
export function repairOnce(name: string): MergeActor {
  const run = async ({ deps: { table } }: Environment) => {
    const { fixed } = await repair(table, checkMerges(await readMergeRows(table, ACCOUNT)));
    return `${fixed} fixed`;
  };
  return actor(name, run, repaired, { retried: true, mayApplyTwice: true, maxCalls: 60 });
}

/** Sequence of the merge that `undo` undoes, in the latest table that `afterMerges` has made. */
let undoneSequence = 0;

/**
 * The table after these merges.
 * @param misplaced an alert that is then moved to incident 3 without a feed entry
 */
export const afterMerges = (merges: readonly Merge[], misplaced?: string) => async () => [
  await rowsAfter(LINES, async ({ deps }) => {
    for (const request of merges) {
      const now = () => START_MS - (request.longAgo ? 25 * HOUR_MS : 0);
      await createMergeAlerts({ ...deps, now }, MERGE_LIMITS)(callOf(bodyOf(request), ACCOUNT, request.key));
    }
    undoneSequence = (await readFeed(deps.table, ACCOUNT, TWO))[0]?.entry.sequence ?? 0;
    if (misplaced) await updateRow(deps.table, keys.alert(ACCOUNT, misplaced), set({ incident_id: THREE }));
  }),
];

/** The tables that a restore can leave: each row as it was before the merges, or as one of their writes left it. */
export const torn = (merges: readonly Merge[], limits: MergeLimits) => async (): Promise<Rows[]> => {
  const double = new TableDouble(await rowsAfter(LINES));
  const { rows: before } = double;
  /** The versions of each changed row; undefined: there was none. */
  const versions = new Map<string, (Item | undefined)[]>();
  const table = connectDouble(async (request) => {
    const reply = double.apply(request);
    for (const [name, row] of double.rows) {
      const known = versions.get(name) ?? [before.get(name)];
      if (known.at(-1) !== row) versions.set(name, [...known, row]);
    }
    return reply;
  });
  for (const request of merges)
    await createMergeAlerts(depsOver(table), { ...MERGE_LIMITS, ...limits })(
      callOf(bodyOf(request), ACCOUNT, request.key),
    );
  return [...versions].reduce<Rows[]>(
    (tables, [name, rowVersions]) =>
      tables.flatMap((rows) =>
        rowVersions.map((row) => new Map([...rows].filter(([key]) => key !== name).concat(row ? [[name, row]] : []))),
      ),
    [before],
  );
};

/** The scheduled run of the finisher, an hour later. */
export function sweep(name: string): MergeActor {
  const run = async ({ deps }: Environment) => {
    const depsAnHourLater = { ...deps, now: () => deps.now() + HOUR_MS };
    await createFinishMerges(depsAnHourLater, MERGE_LIMITS.transactionItems)(OVERDUE, {
      getRemainingTimeInMillis: () => 60_000,
    });
  };
  return actor(name, run, unchanged);
}

/** The message that stream and queue deliver when a large entry is written. */
export function finishMessageOf(item: Item, transactionItems: number): Message | undefined {
  const key = { pk: item.pk, sk: item.sk } as Key;
  if (!item.large || parseKey(key)?.kind !== 'feedEntry') return undefined;
  const Records = [{ body: JSON.stringify(key) }] as never;
  return {
    name: `finish-merges for ${parseKey(key)?.parts.join(' ')}`.replace(/0{8,}/g, '…'),
    script: ({ deps }) =>
      createFinishMerges(deps, transactionItems)({ Records }, { getRemainingTimeInMillis: () => 60_000 }),
  };
}
