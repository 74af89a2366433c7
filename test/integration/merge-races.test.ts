import { beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { expectEnvelope } from '../support/answers.ts';
import { type Account, newAccount } from '../support/incidents.ts';
import { connectAgain, handlersOver, newTable, testDeps } from '../support/service.ts';

let table: Table;
beforeAll(async () => {
  table = await newTable();
});

/** So that few alerts take several transactions. */
const TRANSACTION_ITEMS = 12;

/** A warm function of its own: its own client, caches and memory. */
const instance = () => {
  const own = connectAgain(table);
  return handlersOver(testDeps(own), { transactionItems: TRANSACTION_ITEMS }).mergeAlerts;
};

/** Every entry of the given incidents' feeds in the order of the merges, each with the moves of all its rows. */
async function history(tenant: Account, incidents: string[]) {
  const rows = (await Promise.all(incidents.map((id) => tenant.feed(id)))).flat();
  const entries = rows.sort((one, other) => one.sequence - other.sequence);
  return entries.map((entry) => ({
    to: entry.incident_id as string,
    moved: entry.moved as Record<string, string[]>,
    stayed: entry.stayed as string[],
  }));
}

/** Replays the feeds from the beginning: each must tell where its alerts were at that moment, and lead to where they are. */
async function feedsTellTheTruth(
  tenant: Account,
  incidents: string[],
  alerts: string[],
  start?: string,
): Promise<void> {
  const where = new Map(alerts.map((id) => [id, start ?? 'none']));
  for (const { to, moved, stayed } of await history(tenant, incidents)) {
    for (const [from, ids] of Object.entries(moved))
      for (const id of ids) {
        expect(`${id} from ${where.get(id)}`).toBe(`${id} from ${from}`);
        where.set(id, to);
      }
    for (const id of stayed) expect(`${id} in ${where.get(id)}`).toBe(`${id} in ${to}`);
  }
  const stored = await tenant.placements(alerts);
  expect(stored.map((id) => id ?? 'none')).toEqual(alerts.map((id) => where.get(id)));
}

describe('merges that share alerts', () => {
  it.each([1, 2, 3])('over the same 36 alerts end in the incident of the later one, never split (%i)', async () => {
    const tenant = await newAccount(table);
    const start = await tenant.incident();
    const [one, other] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(36, start);
    const answers = await Promise.all(
      [one, other].map((incident_id) => tenant.merge(instance(), { alert_ids: alerts, incident_id })),
    );
    for (const answer of answers) expectEnvelope(answer, 200);
    for (const id of [one, other]) await tenant.finish(id, TRANSACTION_ITEMS);
    const entries = await history(tenant, [one, other]);
    expect(entries).toHaveLength(2);
    const last = entries.at(-1);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([last?.to]));
    await feedsTellTheTruth(tenant, [one, other], alerts, start);
  });

  it('of every size, concurrently, leave feeds that are correct for every alert', async () => {
    const tenant = await newAccount(table);
    const incidents = await Promise.all(Array.from({ length: 4 }, () => tenant.incident()));
    const alerts = await tenant.alerts(40);
    const sizes = [3, 40, 7, 1, 20, 5];
    const answers = await Promise.all(
      sizes.map((size, index) =>
        tenant.merge(instance(), {
          alert_ids: alerts.slice(index, index + size),
          incident_id: incidents[index % incidents.length],
          title: `Title ${index}`,
        }),
      ),
    );
    for (const answer of answers) expectEnvelope(answer, 200);
    for (const id of incidents) await tenant.finish(id, TRANSACTION_ITEMS);
    expect(await history(tenant, incidents)).toHaveLength(sizes.length);
    await feedsTellTheTruth(tenant, incidents, alerts);
    expect(await tenant.pending()).toEqual([]);
  });

  it('into one incident give it the title of the later one, and each entry records the previous title', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident({ title: 'Start' });
    const alerts = await tenant.alerts(6);
    const answers = await Promise.all(
      alerts.map((id, index) =>
        tenant.merge(instance(), { alert_ids: [id], incident_id: to, title: `Title ${index}` }),
      ),
    );
    for (const answer of answers) expectEnvelope(answer, 200);
    const feed = await tenant.feed(to);
    let title = 'Start';
    for (const { old_title, new_title } of feed) {
      expect(old_title).toBe(title);
      title = new_title;
    }
    expect(await tenant.incidentRow(to)).toMatchObject({ title });
  });
});
