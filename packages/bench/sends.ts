/** Compares the functions of the feed with a handler that a careful user would write. */
import { randomUUID } from 'node:crypto';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { sendNotification } from '../../lib/operations/send-notification/schema.ts';
import { sendRecords } from '../../lib/operations/send-records/schema.ts';
import { DEMO_KEYS, sampleData } from '../local/sample.ts';
import { type Bundle, bundle, compare, environmentOf } from './functions/processes.ts';
import { startQueues } from './functions/queues.ts';
import type { Figure } from './run.ts';
import { accountLines, eventOf, hostName, startBenchService, statusOf } from './service.ts';

/** The account of the demo key; and that whose rows the careful handler writes. */
const ACCOUNTS = { ours: 1, careful: 99 } as const;

const reports = (count: number, atMs: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ kind: 'host_status', host_id: hostName(index) },
    ...{ ...statusOf(atMs), at_ms: atMs },
  }));

/** Alerts as Alertmanager sends them, about 500 bytes each. */
const alerts = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    status: index % 4 === 0 ? 'resolved' : 'firing',
    labels: {
      ...{ alertname: 'DiskFull', instance: hostName(index), job: 'node' },
      ...{ severity: 'critical', mountpoint: '/var/lib' },
    },
    annotations: { summary: `Disk of ${hostName(index)} is full`, description: 'Less than 5 % are free on /var/lib.' },
    startsAt: '2026-11-20T08:30:00.125Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example:9090/graph?g0.expr=node_filesystem_avail_bytes+%3C+5&g0.tab=1',
    fingerprint: index.toString(16).padStart(16, '0'),
  }));

interface Sent {
  readonly name: 'send-records' | 'send-notification' | 'ingest-records';
  readonly what: string;
  /** Calls in each process. */
  readonly calls: number;
  /** The largest ratio of the CPU of a warm call that is accepted. */
  readonly mostWarm: number;
  eventOf(call: number, account: number): object;
}

/** The calls of an operation are alike. */
function sends(operation: ListedOperation & Pick<Sent, 'name'>, body: object) {
  const event = eventOf(operation, DEMO_KEYS.demo, body);
  return { name: operation.name, eventOf: () => event };
}

/** Messages that have one report each, all later than those of earlier calls. */
const messages = (count: number) => ({
  name: 'ingest-records' as const,
  eventOf(call: number, account_id: number) {
    const atMs = STARTED_MS + 100 * count + call;
    const attributes = {
      SentTimestamp: String(atMs),
      ApproximateReceiveCount: '1',
      MessageGroupId: String(account_id),
    };
    const Records = reports(count, atMs).map((report) => ({
      ...{ messageId: randomUUID(), receiptHandle: 'receipt', attributes },
      body: JSON.stringify({ account_id, ...report }),
    }));
    return { Records };
  },
});
const STARTED_MS = Date.now() - 100_000;

const SENT: readonly Sent[] = [
  { ...sends(sendRecords, { records: reports(1, STARTED_MS) }), what: '1 report', calls: 81, mostWarm: 1.1 },
  { ...sends(sendRecords, { records: reports(500, STARTED_MS) }), what: '500 reports', calls: 31, mostWarm: 1.3 },
  { ...sends(sendNotification, { alerts: alerts(1) }), what: '1 alert', calls: 81, mostWarm: 1.2 },
  { ...sends(sendNotification, { alerts: alerts(5_000) }), what: '5,000 alerts', calls: 11, mostWarm: 2 },
  { ...messages(1), what: '1 report', calls: 81, mostWarm: 1 },
  { ...messages(100), what: '100 reports', calls: 31, mostWarm: 0.65 },
];

export async function run(add: (figure: Figure) => void): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sends-'));
  const lines = [...sampleData(Date.now()), ...accountLines(ACCOUNTS.careful, 'bench-key-careful'.padEnd(32, '-'))];
  await using service = await startBenchService(lines);
  const careful = await bundle({ module: 'careful' }, folder.path);
  for (const { name, what, calls, mostWarm, eventOf } of SENT) {
    // Queues of its own, since they keep what is sent.
    await using queues = await startQueues(['ingest', 'refused']);
    const [INGEST_URL = '', REFUSED_URL = ''] = queues.urls;
    const env = {
      ...environmentOf(service.endpoint, service.table.name),
      ...{ INGEST_URL, REFUSED_URL },
      // The largest: the calls come faster than an account may send.
      ...{ FEED_ITEMS_PER_3_SECONDS: '1000000', FEED_ITEMS_PER_MINUTE: '20000000' },
    };
    const ofAccount = (bundle: Bundle, account: number) => ({
      ...{ bundle, env, calls },
      eventOf: (call: number) => eventOf(call, account),
    });
    await compare(
      {
        ...{ name, what, baselineName: 'a careful handler' },
        ours: ofAccount(await bundle({ operation: name }, folder.path), ACCOUNTS.ours),
        baseline: ofAccount(careful, ACCOUNTS.careful),
        most: { ...(what.startsWith('1 ') && { bundle: 1.05, initAndFirst: 1 }), warm: mostWarm },
      },
      add,
    );
  }
}
