/**
 * What the bodies that may cost the most cost, and the calls on rows that do: each is sent to the function as deployed, in a process of its
 * own. Prints a table of Markdown, and each operation's largest CPU time and memory with their bounds.
 */
import { once } from 'node:events';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryMbOf } from '../../infra/function-settings.ts';
import { SETTINGS } from '../../lib/shared/settings.ts';
import { SHAPES } from './bodies/shapes.ts';
import { type Bundle, bundle, environmentOf, startProcess } from './functions/processes.ts';
import { startQueues } from './functions/queues.ts';
import { hostileCallsOf, hostileLines, keyOf } from './hostile.ts';
import type { Figure } from './run.ts';
import { accountLines, eventOf, startBenchService } from './service.ts';

/** The largest body that the setting allows. */
const { env: MAX_BODY_BYTES, max: LARGEST } = SETTINGS.maxBodyBytes;
/** CPU seconds that a body may take. */
const MOST_SECONDS = 1;

/** Each call has an account of its own, so that no limit refuses it. */
const keyOfCall = (call: number) => `bench-key-${call}`.padEnd(43, '-');
const linesOf = (call: number) => accountLines(1_000 + call, keyOfCall(call));

interface Report {
  cpuMs: number;
  peakMb: number;
  status: number;
  answer: string;
}

/** Calls a bundle once, in a new process. */
async function callOnce(bundle: Bundle, env: Record<string, string>, event: object): Promise<Report> {
  const child = startProcess(bundle, env);
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
  const lines = [...hostileLines(), ...Array.from({ length: count }, (_, index) => linesOf(index)).flat()];
  await using service = await startBenchService(lines);
  await using queues = await startQueues(['feed', 'refused']);
  const [INGEST_URL = '', REFUSED_URL = ''] = queues.urls;
  const env = {
    ...environmentOf(service.endpoint, service.table.name),
    [MAX_BODY_BYTES]: String(LARGEST),
    ...{ INGEST_URL, REFUSED_URL },
  };
  process.stdout.write(
    '| operation | body | bytes | CPU s | peak MB | answer |\n| --- | --- | --- | --- | --- | --- |\n',
  );
  let made = 0;
  for (const { operation, shapes } of SHAPES) {
    const { name } = operation;
    const largest = 'maxBodyBytes' in operation ? operation.maxBodyBytes : LARGEST;
    const bundled = await bundle({ operation: name }, folder.path);
    const reports: Report[] = [];
    const calls = [
      ...Object.entries(shapes).map(([what, bodyOf]) => ({ what, key: keyOfCall(made++), body: bodyOf(largest) })),
      ...hostileCallsOf(operation).map(({ what, account = 'large', body }) => ({
        what: `large rows: ${what}`,
        ...{ key: keyOf(account), body: JSON.stringify(body(0)) },
      })),
    ];
    for (const { what, key, body } of calls) {
      const event = { ...eventOf(operation, key, {}), body };
      const report = await callOnce(bundled, env, event);
      reports.push(report);
      const { cpuMs, peakMb, status, answer } = report;
      const code = JSON.parse(answer || '{}').error?.code ?? 'OK';
      const cells = [
        ...[name, what, Buffer.byteLength(body)],
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
