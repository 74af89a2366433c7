/** Merges that a fault interrupts, which are then finished and retried, and what must hold of them whatever the fault. */
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import type { Fault } from './fault-proxy.ts';
import type { FaultyTable } from './faulty-table.ts';
import { finishFeed } from './finish.ts';
import { newAccount, objectId } from './incidents.ts';
import { handlersOver, invokeAlone, put, testDeps } from './service.ts';

/** How a merge is interrupted: by `fault` at its `nth` wire call; then finish-merges or the caller's retry comes first. */
export interface Cut {
  alerts: number;
  nth: number;
  fault: Fault;
  first: 'finish' | 'retry';
}

export const ORDERS = ['finish', 'retry'] as const;
const OWNER = 7;
/** A call that took longer may have reached its deadline, and had no time to look whether it is committed. */
const IN_TIME_MS = 1_800;
/** Time-outs of the table's clients: shorter than production's, since hundreds of cuts wait for a reply that does not come. */
export const TIMEOUTS = { connectionTimeout: 500, requestTimeout: 600 };

export interface Arena {
  /** Merges alerts into a new incident, interrupted so. @returns the problems found */
  run(cut: Cut): Promise<string[]>;
  /** Number of wire calls that a merge takes without a fault. */
  calls(alerts: number): Promise<number>;
}

/** An account whose alerts are merged again and again, each time into a new incident. */
export async function openArena(faulty: FaultyTable, mostAlerts: number): Promise<Arena> {
  const { table } = faulty;
  const tenant = await newAccount(table);
  await tenant.member(OWNER);
  const all = await tenant.alerts(mostAlerts);
  let place = new Map<string, string | undefined>(all.map((id) => [id, undefined]));
  let serial = 0;

  const callMerge = async (through: Table, body: object, key: string) => {
    const { mergeAlerts } = handlersOver(testDeps(through));
    const answer = await invokeAlone(mergeAlerts, tenant.event(body, { headers: { 'Idempotency-Key': key } }));
    return answer.status;
  };

  /** Retries after 503, as callers do: a busy DynamoDB Local may not answer in time. */
  const callUntilAnswered = async (through: Table, body: object, key: string) => {
    let status = 503;
    for (let tries = 0; status === 503 && tries < 5; tries += 1) status = await callMerge(through, body, key);
    return status;
  };

  async function state(alerts: string[], to: string) {
    const [where, feed, incident, pending] = await Promise.all([
      tenant.placements(alerts),
      tenant.feed(to),
      tenant.incidentRow(to),
      tenant.pending(),
    ]);
    const recorded = feed.flatMap(({ moved }) => Object.values(moved).flat());
    return {
      moved: where.filter((incidentId) => incidentId === to).length,
      kept: where.filter((incidentId, index) => incidentId === place.get(alerts[index] as string)).length,
      entries: feed,
      /** Alerts that the entry takes, moved or not. */
      listed: feed.reduce((sum, entry) => sum + (entry.listed ?? Object.values(entry.moved).flat().length), 0),
      recorded: recorded.length,
      changed: incident.title === 'New' && incident.owner_id === OWNER,
      untouched: incident.title === 'Old' && incident.owner_id === undefined,
      marks: pending.length + feed.filter((row) => row.pending).length,
    };
  }

  async function finish(to: string): Promise<void> {
    await finishFeed(table, await tenant.feed(to));
  }

  async function prepare(count: number) {
    serial += 1;
    const to = objectId();
    await put(table, keys.incident(tenant.account, to), { incident_id: to, title: 'Old' });
    const alerts = all.slice(0, count);
    return {
      to,
      alerts,
      body: { alert_ids: alerts, incident_id: to, title: 'New', owner_id: OWNER },
      key: `k${serial}`,
    };
  }

  return {
    async calls(count) {
      const { body, key, to, alerts } = await prepare(count);
      faulty.plan();
      const through = faulty.connect();
      if ((await callUntilAnswered(through, body, key)) !== 200) throw new Error('a merge that nothing cut has failed');
      // On a busy machine the call may answer before all is moved.
      await finish(to);
      for (const id of alerts) place.set(id, to);
      return faulty.calls();
    },

    async run({ alerts: count, nth, fault, first }) {
      const { to, alerts, body, key } = await prepare(count);
      const problems: string[] = [];
      const check = (holds: boolean, problem: string) => {
        if (!holds) problems.push(problem);
      };
      faulty.plan((call) => (call.number === nth ? fault : undefined));
      const through = faulty.connect();
      const began = Date.now();
      const status = await callMerge(through, body, key);
      const took = Date.now() - began;
      const died = faulty.killed();
      faulty.plan();

      const after = await state(alerts, to);
      const committed = after.entries.length > 0;
      check(after.entries.length <= 1, `${after.entries.length} entries right after`);
      if (committed) {
        check(after.changed, 'the entry is there, title and owner are not');
        check(after.listed === count, `the entry takes ${after.listed} alerts`);
      } else {
        check(after.untouched, 'title or owner are there without the entry');
        check(after.kept === count, `${after.kept} alerts are where they were, without an entry`);
      }
      if (!died) {
        // The service takes a ValidationException for a bug of its own and answers 500.
        check([200, 503, ...(fault === 'invalid' ? [500] : [])].includes(status), `answered ${status}`);
        if (status === 200) check(committed, 'answered 200, and nothing is committed');
        else if (took < IN_TIME_MS) check(!committed, `answered ${status}, and the merge is committed`);
      }

      const retry = async () => {
        const again = faulty.connect();
        const repeated = await callUntilAnswered(again, body, key);
        check(repeated === 200, `the retry answered ${repeated}`);
      };
      if (first === 'retry') await retry();
      await finish(to);
      if (first === 'finish') {
        const between = await state(alerts, to);
        if (committed) check(between.moved === count, `${between.moved} alerts moved after finish-merges`);
        else check(between.kept === count && between.untouched, 'finish-merges has done what was not committed');
        check(between.marks === 0, `${between.marks} marks after finish-merges`);
        await retry();
        await finish(to);
      }
      const end = await state(alerts, to);
      check(end.moved === count, `${end.moved} alerts moved in the end`);
      check(end.entries.length === 1, `${end.entries.length} entries in the end`);
      check(end.recorded === count, `the feed records ${end.recorded} alerts in the end`);
      check(end.changed, 'title or owner are missing in the end');
      check(end.marks === 0, `${end.marks} marks in the end`);
      place = new Map([...place, ...alerts.map((id): [string, string] => [id, to])]);
      return problems;
    },
  };
}

/** Runs cuts in parallel lanes. @param open opens the arena of a lane, and a new one after each `cutsAnArena` cuts */
export async function runCuts(
  open: (lane: number) => Promise<Arena>,
  { lanes, cutsAnArena }: { lanes: number; cutsAnArena: number },
  cuts: readonly Cut[],
): Promise<string[]> {
  const left = cuts.values();
  const broken: string[] = [];
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      let arena = await open(lane);
      let ran = 0;
      for (const cut of left) {
        if (ran > 0 && ran % cutsAnArena === 0) arena = await open(lane);
        ran += 1;
        const problems = await arena.run(cut);
        if (problems.length > 0) broken.push(`${JSON.stringify(cut)}: ${problems.join('; ')}`);
      }
    }),
  );
  return broken;
}
