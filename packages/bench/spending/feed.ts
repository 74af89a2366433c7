/** What records take of the table's writes, for each item that the budget of the feed counts. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { createIngestRecords } from '../../../lib/ingest/ingest.ts';
import { chunksOf } from '../../../lib/shared/concurrency.ts';
import { SETTINGS } from '../../../lib/shared/settings.ts';
import { ALERT_INDEX } from '../../../lib/table/alert-index.ts';
import { keyOf, largestAlert, largestItem, largestReport, taken } from '../hostile.ts';
import { accountLines, benchDeps, startBenchService, startMeter } from '../service.ts';

/** Rows of each case. */
const COUNT = 20;
const ITEMS_A_SECOND = SETTINGS.feedItemsPerMinute.default / 60;

type RecordOf = (index: number) => string;
interface Case {
  what: string;
  /** What is stored before; absent: nothing. */
  stored?: RecordOf;
  record: RecordOf;
  /** Whether the records are older than what is stored. */
  isLate?: boolean;
}
const alert = (more: object) => JSON.stringify({ kind: 'alert', title: 't', ...more });
const id = (index: number) => String(index).padStart(24, 'c');

const CASES: readonly Case[] = [
  { what: 'an alert opens', record: (index) => alert({ alert_key: `o${index}` }) },
  {
    what: 'a large alert ends',
    stored: (index) => largestAlert({ alert_key: `e${index}` }),
    record: (index) => alert({ alert_key: `e${index}`, alert_status: 'Ok' }),
  },
  {
    what: 'a large alert changes its severity',
    stored: (index) => largestAlert({ alert_key: `s${index}` }),
    record: (index) => alert({ alert_key: `s${index}`, alert_status: 'Critical' }),
  },
  {
    what: 'late, of a large alert with a key',
    stored: (index) => largestAlert({ alert_key: `k${index}` }),
    record: (index) => alert({ alert_key: `k${index}` }),
    isLate: true,
  },
  {
    what: 'late, of a large alert',
    stored: (index) => largestAlert({ alert_id: id(index) }),
    record: (index) => alert({ alert_id: id(index) }),
    isLate: true,
  },
  {
    what: 'late, of a large work item',
    stored: (index) => largestItem(`w${index}`),
    record: (index) => JSON.stringify({ kind: 'work_item', work_item_id: `w${index}`, version: 1, title: '' }),
    isLate: true,
  },
  {
    what: 'late, of a large report',
    stored: (index) => largestReport(`h${index}`),
    record: (index) => JSON.stringify({ kind: 'host_status', host_id: `h${index}`, node_count: 1 }),
    isLate: true,
  },
  {
    what: 'a new host',
    record: (index) =>
      JSON.stringify({
        kind: 'host',
        host_id: `n${index}`,
        agent_version: '',
        edge_cluster: '',
        enabled: true,
        snapshot_ready: true,
      }),
  },
  { what: 'a large work item', record: (index) => largestItem(`l${index}`) },
];

const SENT_MS = Date.now();

export async function feedCosts(endpoint: string) {
  await using service = await startBenchService(accountLines(1, keyOf('large')), endpoint);
  await using meter = await startMeter(service);
  const { table, totals } = meter;
  const queues = {
    refuse: async (refused: readonly unknown[]) => refused.map(() => assert.fail(JSON.stringify(refused[0]))),
    delay: async () => undefined,
  };
  const ingest = createIngestRecords(benchDeps(table, Date.now), queues);

  async function deliver(records: readonly string[], atMs: number): Promise<void> {
    const Records = chunksOf(records, 10).map((some) => ({
      messageId: randomUUID(),
      body: some.map((record) => taken('large', record).replace('{', `{"at_ms":${atMs},`)).join('\n'),
      attributes: { SentTimestamp: String(SENT_MS), ApproximateReceiveCount: '1', MessageGroupId: '1' },
    }));
    const { batchItemFailures } = await ingest({ Records } as unknown as SQSEvent, {
      getRemainingTimeInMillis: () => 600_000,
    });
    assert.deepEqual(batchItemFailures, []);
  }

  /** The entries of the index of alerts: to write one and to remove one takes a unit each. The limits proxy does not count them. */
  async function entries(): Promise<Set<string>> {
    const { Items = [] } = await service.table.client.send(
      new ScanCommand({ TableName: table.name, IndexName: ALERT_INDEX.name }),
    );
    return new Set(Items.map((item) => Object.values(item).sort().join()));
  }

  const costs: { what: string; write: number; perSecond: number }[] = [];
  for (const { what, stored, record, isLate = false } of CASES) {
    const of = (recordOf: RecordOf) => Array.from({ length: COUNT }, (_, index) => recordOf(index));
    await deliver(of(stored ?? (() => JSON.stringify({ kind: 'member', member_id: 1, name: 'n' }))), SENT_MS - 10_000);
    const [before, unitsBefore] = [await entries(), totals().writeUnits];
    const records = of(record);
    await deliver(records, SENT_MS + (isLate ? -20_000 : 0));
    const items = records.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 1_024), 0);
    const indexed = before.symmetricDifference(await entries()).size;
    const write = (totals().writeUnits - unitsBefore + indexed) / items;
    costs.push({ what, write, perSecond: ITEMS_A_SECOND });
  }
  return costs;
}
