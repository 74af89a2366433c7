/** Records sent in any order, some repeatedly, lead to the same rows, even if calls fail and batches run at the same time. */
import { expect, it } from 'vitest';
import { parseKey } from '../../lib/dynamodb/keys.ts';
import { type FeedRecord, recordOf } from '../../lib/ingest/records.ts';
import { rowsOf } from '../../lib/ingest/write-records.ts';
import { connectDouble } from '../../packages/proof/simulation/double-client.ts';
import type { Request } from '../../packages/proof/simulation/requests.ts';
import { TableDouble } from '../../packages/proof/simulation/table-double.ts';
import type { Item } from '../../packages/proof/simulation/values.ts';
import { SEED, seededRandom } from '../support/chance.ts';

const HISTORIES = Number(process.env.HISTORIES ?? 1_000);
const SENT = 1_795_000_000_000;
const DAY = 24 * 3_600_000;

type Random = () => number;
const pickFrom = (random: Random) => ({
  chance: (probability: number) => random() < probability,
  pick: <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item,
});

const STATUS_FIELDS = {
  received_at_ms: [1, 2, 3],
  observed_at_ms: [1, 2, 3],
  node_count: [0, 1, 2],
  edge_count: [0, 1, 2],
  authoritative: [true, false],
  graph_available: [true, false],
  snapshot_truncated: [true, false],
  snapshot_degraded: [true, false],
  health_at_ms: [1, 2, 3],
  reason_codes: [['a'], ['b', 'c']],
} as const;
const DEFAULTS: Record<string, unknown> = {
  ...{ node_count: 0, edge_count: 0, authoritative: false },
  ...{ graph_available: false, snapshot_truncated: false, snapshot_degraded: false },
};
const ID = '64f00000000000000000000';

/** A random record as a line. Ids and times are few, so that many records are of one row or moment. */
function lineOf(random: Random): string {
  const { chance, pick } = pickFrom(random);
  const at_ms = SENT - 1_000 * pick([0, 1, 2, 3, 3, 4]);
  const time = chance(0.9) ? { at_ms } : {};
  const host_id = pick(['a', 'b']);
  const title = pick(['one', 'two', 'three']);
  const fields = Object.entries(STATUS_FIELDS).filter(() => chance(0.5));
  const report = Object.fromEntries(fields.map(([name, values]) => [name, chance(0.2) ? null : pick<unknown>(values)]));
  const inventory = { agent_version: pick(['1', '2']), edge_cluster: 'e', enabled: chance(0.5), snapshot_ready: true };
  const entity = pick<() => object>([
    () => ({ kind: 'host', host_id, ...inventory }),
    () => ({ kind: 'host', host_id, retired: true }),
    ...Array(3).fill(() => ({ kind: 'host_status', host_id, ...report })),
    () => ({ kind: 'member', member_id: 1, name: title }),
    () => ({ kind: 'work_item', work_item_id: 'w', version: pick([1, 2]), title, ...(chance(0.5) && { more: [1] }) }),
    () => ({ kind: 'work_item', work_item_id: 'w', version: 3, title, deleted_at_ms: pick([5, 6]) }),
    () => ({ kind: 'incident', incident_id: `${ID}1`, title, ...(chance(0.5) && { owner_id: pick([1, 2]) }) }),
    () => ({ kind: 'alert', alert_id: `${ID}a`, title, ...(chance(0.5) && { incident_id: `${ID}${pick([1, 2])}` }) }),
  ])();
  return JSON.stringify({ ...entity, ...time, account_id: 1 });
}

function recordsOf(lines: readonly string[]): FeedRecord[] {
  return lines.map((text) => {
    const found = recordOf(text, SENT);
    if (!('record' in found)) throw new Error(`${found.problem}: ${text}`);
    return found.record;
  });
}

/** The rows that the contract demands in the end: each field has the value of the latest record that names it. */
function expectedRows(records: readonly FeedRecord[]): Map<string, Record<string, unknown>> {
  const rows = new Map<string, Record<string, unknown>>();
  const ascending = records.toSorted((a, b) => (a.order < b.order ? -1 : 1));
  for (const { entity, retired, atMs } of ascending) {
    const { kind, account_id: _account, host_id, ...fields } = entity;
    const id = String(host_id ?? fields.member_id ?? fields.work_item_id ?? fields.incident_id ?? '');
    const ttl = Math.ceil(atMs / 1000) + (30 * DAY) / 1000;
    const name = kind === 'alert' ? `alert ${fields.alert_id}` : `${kind} ${id}`;
    if (kind === 'host_status') {
      if (Object.keys(fields).length === 0) continue;
      const before = rows.get(name);
      // The agent of a retired host goes on reporting.
      const row = { ...DEFAULTS, ...before, ...fields, ...(before?.ttl !== undefined && { ttl }) };
      const shown = Object.entries(row).map(([field, value]) => [field, value ?? DEFAULTS[field]]);
      rows.set(name, Object.fromEntries(shown.filter(([, value]) => value !== undefined)));
    } else if (retired) {
      rows.set(name, { retired: true, ttl });
      rows.set(`host_status ${id}`, { ...DEFAULTS, ttl });
    } else if (kind === 'alert') {
      // A record sets the incident only when it creates the row, so it depends on which record comes first.
      const { incident_id: _incident, ...shownFields } = fields;
      rows.set(name, shownFields);
    } else if (kind !== 'work_item' || fields.deleted_at_ms !== undefined || !rows.get(name)?.deleted_at_ms)
      rows.set(name, fields);
    if (kind === 'host' && !retired) delete rows.get(`host_status ${id}`)?.ttl;
  }
  return rows;
}

/** The rows of a table by the names that `expectedRows` gives them, without the attributes that order records. */
function storedRows(items: readonly Item[]): Map<string, Record<string, unknown>> {
  return new Map(
    items.map(({ pk, sk, ...fields }) => {
      const kind = parseKey({ pk: String(pk), sk: String(sk) })?.kind.replace(
        /[A-Z]/,
        (capital) => `_${capital.toLowerCase()}`,
      );
      const isShown = (name: string) => !name.endsWith('_order') && !(kind === 'alert' && name === 'incident_id');
      return [`${kind} ${sk}`, Object.fromEntries(Object.entries(fields).filter(([name]) => isShown(name)))];
    }),
  );
}

class Fault extends Error {}

/** Delivers records in random batches, three at a time, each again until none of its calls fails. */
async function deliver(records: readonly FeedRecord[], random: Random): Promise<TableDouble> {
  const { chance, pick } = pickFrom(random);
  const double = new TableDouble();
  /** Lets a request that a worker waits for go on. */
  const heldRequests: (() => void)[] = [];
  const table = connectDouble(async (request: Request) => {
    await new Promise<void>((resolve) => heldRequests.push(resolve));
    if (chance(0.1)) throw new Fault();
    const reply = double.apply(request);
    if (chance(0.1)) throw new Fault();
    return reply;
  });
  const undelivered = [...records, ...records.filter(() => chance(0.3))].sort(() => random() - 0.5);
  const worker = async () => {
    for (
      let batch = undelivered.splice(0, pick([1, 1, 2, 4]));
      batch.length > 0;
      batch = undelivered.splice(0, pick([1, 2, 4]))
    ) {
      const results = await Promise.allSettled(rowsOf(batch).map(({ write }) => write(table)));
      const failures = results.filter((result) => result.status === 'rejected');
      for (const { reason } of failures) if (!(reason instanceof Fault)) throw reason;
      if (failures.length > 0) undelivered.push(...batch);
    }
  };
  let running = 3;
  const allEnded = Promise.all([1, 2, 3].map(() => worker().finally(() => (running -= 1))));
  while (running > 0) {
    await new Promise(setImmediate);
    heldRequests.splice(Math.floor(random() * heldRequests.length), 1)[0]?.();
  }
  await allEnded;
  return double;
}

it(`records sent in any order, some repeatedly, lead to the rows that the latest records demand: ${HISTORIES} histories`, async () => {
  for (let index = 0; index < HISTORIES; index += 1) {
    const seed = SEED + index;
    const random = seededRandom(seed);
    const lines = Array.from({ length: 2 + Math.floor(random() * 8) }, () => lineOf(random));
    const records = recordsOf(lines);
    const double = await deliver(records, random);
    const history = `seed ${seed}\n${lines.join('\n')}`;
    expect(Object.fromEntries(storedRows(double.items())), history).toEqual(Object.fromEntries(expectedRows(records)));
  }
}, 120_000);
