/** Merges that are cut somewhere, finished and repeated: what must hold of each, whatever was cut. */
import { connectTable, type Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { type Fault, startFaultProxy } from './fault-proxy.ts';
import { finishFeed } from './finish.ts';
import { newAccount, objectId } from './incidents.ts';
import { handlersOver, invokeAlone, put, testDeps } from './service.ts';
import { connectAfterStorm } from './storm.ts';

/** What happens to a merge: `fault` at wire call `at`; then whether finish-merges or the caller's retry comes first. */
export interface Cut {
  alerts: number;
  at: number;
  fault: Fault;
  first: 'finish' | 'retry';
}

export const ORDERS = ['finish', 'retry'] as const;
const OWNER = 7;
/** A call that took longer may have come near its deadline, after which it cannot look whether it is committed. */
const IN_TIME_MS = 1_800;
/** A reply that does not come is waited for no longer than that: not production's time-out, for thousands of cuts. */
const TIMEOUTS = { connectionTimeout: 500, requestTimeout: 600 };

interface Arena {
  /** Merges all alerts into a new incident, cut so. @returns the problems found */
  run(cut: Cut): Promise<string[]>;
  /** Number of wire calls that a merge takes when nothing is cut. */
  calls(alerts: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * An account with alerts that merge after merge takes from incident to incident, behind a proxy of its own.
 * @param afterStorm whether one client that a storm went through serves all merges, in place of a new one for each
 */
export async function openArena(
  table: Table,
  dynamoDb: string,
  mostAlerts: number,
  afterStorm: boolean,
): Promise<Arena> {
  const proxy = await startFaultProxy(dynamoDb);
  const tenant = await newAccount(table);
  await tenant.member(OWNER);
  const all = await tenant.alerts(mostAlerts);
  let place = new Map<string, string | undefined>(all.map((id) => [id, undefined]));
  let serial = 0;
  const stormed = afterStorm ? await connectAfterStorm(table, proxy) : undefined;
  const connect = () => stormed ?? connectTable({ name: table.name, endpoint: proxy.endpoint, timeouts: TIMEOUTS });
  const disconnect = (through: Table) => {
    if (through !== stormed) through.client.destroy();
  };

  const callMerge = async (through: Table, body: object, key: string) => {
    const { mergeAlerts } = handlersOver(testDeps(through));
    const answer = await invokeAlone(mergeAlerts, tenant.event(body, { headers: { 'Idempotency-Key': key } }));
    return answer.status;
  };

  /** As callers do that are told to try again: a busy DynamoDB Local may not answer in time. */
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
    const told = feed.flatMap(({ moved }) => Object.values(moved).flat());
    return {
      moved: where.filter((incidentId) => incidentId === to).length,
      kept: where.filter((incidentId, index) => incidentId === place.get(alerts[index] as string)).length,
      entries: feed,
      /** Alerts that the entry takes, moved or not. */
      listed: feed.reduce((sum, entry) => sum + (entry.listed ?? Object.values(entry.moved).flat().length), 0),
      told: told.length,
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
      proxy.plan();
      const through = connect();
      if ((await callUntilAnswered(through, body, key)) !== 200) throw new Error('a merge that nothing cut has failed');
      disconnect(through);
      // On a busy machine the call may answer before all is moved.
      await finish(to);
      for (const id of alerts) place.set(id, to);
      return proxy.calls.length;
    },

    async run({ alerts: count, at: number, fault, first }) {
      const { to, alerts, body, key } = await prepare(count);
      const problems: string[] = [];
      const check = (holds: boolean, problem: string) => {
        if (!holds) problems.push(problem);
      };
      proxy.plan((call) => (call.number === number ? fault : undefined));
      const through = connect();
      const began = Date.now();
      const status = await callMerge(through, body, key);
      const took = Date.now() - began;
      const died = proxy.killed();
      disconnect(through);
      proxy.plan();

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
        // A refusal that lasts is a mistake of ours to DynamoDB's eyes: 500, like any.
        check([200, 503, ...(fault === 'invalid' ? [500] : [])].includes(status), `answered ${status}`);
        if (status === 200) check(committed, 'answered 200, and nothing is committed');
        else if (took < IN_TIME_MS) check(!committed, `answered ${status}, and the merge is committed`);
      }

      const retry = async () => {
        const again = connect();
        const repeated = await callUntilAnswered(again, body, key);
        disconnect(again);
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
      check(end.told === count, `the feed tells of ${end.told} alerts in the end`);
      check(end.changed, 'title or owner are missing in the end');
      check(end.marks === 0, `${end.marks} marks in the end`);
      place = new Map([...place, ...alerts.map((id): [string, string] => [id, to])]);
      return problems;
    },

    close() {
      stormed?.client.destroy();
      return proxy.close();
    },
  };
}

/** Runs cuts, a few at once, each in an arena that is free. @returns a line for each that broke something */
export async function runCuts(arenas: readonly Arena[], cuts: readonly Cut[]): Promise<string[]> {
  const left = cuts.values();
  const broken: string[] = [];
  await Promise.all(
    arenas.map(async (arena) => {
      for (const cut of left) {
        const problems = await arena.run(cut);
        if (problems.length > 0) broken.push(`${JSON.stringify(cut)}: ${problems.join('; ')}`);
      }
    }),
  );
  return broken;
}
