/**
 * What the bodies that may cost the most cost: each is sent to the function as deployed, in a process of its own. Prints a table of Markdown,
 * and each operation's largest CPU time and memory with their bounds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { memoryMbOf } from '../../infra/function-settings.ts';
import { SETTINGS } from '../../lib/shared/settings.ts';
import { SHAPES } from './bodies/shapes.ts';
import { bundle, environmentOf, pathOf } from './functions/processes.ts';
import { startQueues } from './functions/queues.ts';
import type { Figure } from './run.ts';
import { startBenchService } from './service.ts';

/** The largest body that the setting allows. */
const { env: MAX_BODY_BYTES, max: LARGEST } = SETTINGS.maxBodyBytes;
/** CPU seconds that a body may take. */
const MOST_SECONDS = 1;

/** Each call has an account of its own, so that no limit refuses it. */
const keyOf = (account: number) => `bench-key-${account}`.padEnd(32, '-');
const linesOf = (account_id: number) => [
  JSON.stringify({ kind: 'account', account_id, name: 'Bench', permissions: ['monit', 'feed'] }),
  JSON.stringify({ kind: 'app_key', account_id, app_key: keyOf(account_id) }),
];

interface Report {
  cpuMs: number;
  peakMb: number;
  status: number;
  answer: string;
}

/** Calls a bundle once, in a new process. */
async function callOnce(env: Record<string, string>, event: object): Promise<Report> {
  const child = fork(pathOf('process.ts'), {
    env: { ...env, PATH: process.env.PATH, HOME: tmpdir() },
    serialization: 'advanced',
    silent: true,
  });
  const ended = once(child, 'exit');
  await once(child, 'message');
  child.send(event);
  const [report] = await Promise.race([once(child, 'message'), ended.then(() => [undefined])]);
  if (child.connected) child.disconnect();
  await ended;
  return report ?? { cpuMs: Number.NaN, peakMb: Number.NaN, status: 0, answer: 'the process ended' };
}

export async function run(add: (figure: Figure) => void): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'bodies-'));
  const count = SHAPES.reduce((sum, { shapes }) => sum + Object.keys(shapes).length, 0);
  const lines = Array.from({ length: count }, (_, index) => linesOf(index + 1)).flat();
  await using resources = new AsyncDisposableStack();
  const service = resources.adopt(await startBenchService(lines), ({ stop }) => stop());
  const queues = resources.use(await startQueues(['feed', 'refused']));
  const [INGEST_URL = '', REFUSED_URL = ''] = queues.urls;
  const env = {
    ...environmentOf(service.endpoint, service.table.name),
    [MAX_BODY_BYTES]: String(LARGEST),
    ...{ INGEST_URL, REFUSED_URL },
  };
  process.stdout.write(
    '| operation | body | bytes | gzipped | CPU s | peak MB | answer |\n| --- | --- | --- | --- | --- | --- | --- |\n',
  );
  let account = 0;
  for (const { operation, shapes } of SHAPES) {
    const { name, path } = operation;
    const largest = 'maxBodyBytes' in operation ? operation.maxBodyBytes : LARGEST;
    const { file } = await bundle({ operation: name }, folder.path);
    const reports: Report[] = [];
    for (const [shape, bodyOf] of Object.entries(shapes)) {
      const body = bodyOf(largest);
      account += 1;
      const event = {
        path,
        headers: { 'Content-Type': 'application/json' },
        queryStringParameters: { app_key: keyOf(account) },
        requestContext: { requestId: 'bench' },
        body,
      };
      const report = await callOnce({ ...env, BUNDLE: file }, event);
      reports.push(report);
      const { cpuMs, peakMb, status, answer } = report;
      const code = JSON.parse(answer || '{}').error?.code ?? 'OK';
      const cells = [
        ...[name, shape, Buffer.byteLength(body), gzipSync(body).length],
        ...[(cpuMs / 1_000).toFixed(2), peakMb.toFixed(0), `${status} ${code}, ${Buffer.byteLength(answer)} bytes`],
      ];
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }
    const most = (figure: (report: Report) => number) => Math.max(...reports.map(figure));
    add({
      name: `${name}: CPU of its most costly body`,
      value: most(({ cpuMs }) => cpuMs / 1_000),
      unit: 's',
      baseline: { name: 'the bound', value: MOST_SECONDS },
      most: 1,
    });
    add({
      name: `${name}: largest memory of its process`,
      value: most(({ peakMb }) => peakMb),
      unit: 'MB',
      baseline: { name: 'the memory of the function', value: memoryMbOf(name) },
      most: 1,
    });
  }
}
