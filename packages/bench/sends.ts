/** Compares the functions that send to the ingest queue with a handler that a careful user would write. SQS is a stub in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { sendNotification } from '../../lib/operations/send-notification/schema.ts';
import { sendRecords } from '../../lib/operations/send-records/schema.ts';
import { DEMO_KEYS, sampleData } from '../local/sample.ts';
import { bundle, createRunner, environmentOf, type Runner } from './functions/processes.ts';
import type { Figure } from './run.ts';
import { eventOf, hostName, startBenchService, statusOf } from './service.ts';
import { inTurns } from './timings.ts';

const ROUNDS = 6;

const reports = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const atMs = Date.now();
    return { kind: 'host_status', host_id: hostName(index), ...statusOf(atMs), at_ms: atMs };
  });

/** Alerts as Alertmanager sends them, about 500 bytes each. */
const alerts = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    status: index % 4 === 0 ? 'resolved' : 'firing',
    labels: {
      alertname: 'DiskFull',
      instance: hostName(index),
      job: 'node',
      severity: 'critical',
      mountpoint: '/var/lib',
    },
    annotations: { summary: `Disk of ${hostName(index)} is full`, description: 'Less than 5 % are free on /var/lib.' },
    startsAt: '2026-11-20T08:30:00.125Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example:9090/graph?g0.expr=node_filesystem_avail_bytes+%3C+5&g0.tab=1',
    fingerprint: index.toString(16).padStart(16, '0'),
  }));

interface Sent {
  operation: ListedOperation;
  what: string;
  body: object;
  /** Calls in each process. */
  calls: number;
}

const SENT: readonly Sent[] = [
  { operation: sendRecords, what: '1 report', body: { records: reports(1) }, calls: 81 },
  { operation: sendRecords, what: '500 reports', body: { records: reports(500) }, calls: 31 },
  { operation: sendNotification, what: '1 alert', body: { alerts: alerts(1) }, calls: 81 },
  { operation: sendNotification, what: '5,000 alerts', body: { alerts: alerts(5_000) }, calls: 11 },
];

export async function run(add: (figure: Figure) => void): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sends-'));
  await using resources = new AsyncDisposableStack();
  const service = resources.adopt(await startBenchService(sampleData(Date.now())), ({ stop }) => stop());
  const queues = fork(fileURLToPath(new URL('functions/sqs.ts', import.meta.url)));
  resources.defer(() => queues.disconnect());
  const [{ port }] = await once(queues, 'message');
  const url = (name: string) => `http://127.0.0.1:${port}/000000000000/${name}`;
  const env = {
    ...environmentOf(service.endpoint, service.table.name),
    INGEST_URL: url('ingest'),
    REFUSED_URL: url('refused'),
    // The largest: the calls come faster than an account may send.
    FEED_ITEMS_PER_3_SECONDS: '1000000',
    FEED_ITEMS_PER_MINUTE: '20000000',
  };
  const careful = await bundle({ module: 'sender' }, folder.path);
  for (const { operation, what, body, calls } of SENT) {
    const isSmall = what.startsWith('1 ');
    const event = eventOf(operation, DEMO_KEYS.demo, body);
    const runnerOf = (bundle: Runner['bundle']) => createRunner({ bundle, env, calls, eventOf: () => event });
    const [ours, baseline] = [runnerOf(await bundle({ operation: operation.name }, folder.path)), runnerOf(careful)];
    await inTurns(ROUNDS, [ours.run, baseline.run]);
    const compare = (name: string, unit: string, figureOf: (runner: Runner) => number, most?: number) =>
      add({
        name,
        value: figureOf(ours),
        unit,
        baseline: { name: 'a careful handler', value: figureOf(baseline) },
        ...(most && { most }),
      });
    if (isSmall) {
      compare(`${operation.name}: bundle`, 'KB', ({ bundle }) => bundle.bytes / 1024, 1);
      compare(`${operation.name}: CPU of init + first call`, 'ms', ({ initAndFirst }) => initAndFirst());
    }
    compare(`${operation.name}: CPU of a warm call, ${what}`, 'ms', ({ warm }) => warm());
  }
}
