/**
 * Compares functions with a bare handler that makes the same calls to DynamoDB by the document client. Each is bundled as deployed, and runs in
 * processes of its own.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { aliases } from '../../infra/replaced-modules.ts';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { DEMO_KEYS } from '../local/sample.ts';
import { createRecorder, linesFor, SUBJECTS } from './functions/subjects.ts';
import { measureUnits } from './functions/units.ts';
import type { Figure } from './run.ts';
import { eventOf, startBenchService } from './service.ts';
import { createTimes, inTurns } from './timings.ts';

const ROUNDS = 6;
/** Calls in each process: a first one, and 80 warm ones. */
const CALLS = 81;

export const pathOf = (module: string) => fileURLToPath(new URL(module, import.meta.url));

/** Bundles a module as a careful user deploys it. @returns the bytes of the bundle */
export async function bundle(module: string, outfile: string, options: BuildOptions = {}): Promise<number> {
  await build({
    entryPoints: [pathOf(module)],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    ...options,
  });
  return statSync(outfile).size;
}

/** The CPU time of calls, in milliseconds. */
const createMeasured = () => ({ initAndFirst: createTimes(), warm: createTimes() });
type Measured = ReturnType<typeof createMeasured>;

/** Runs a bundle in a new process, and adds the CPU time of its initialization and its calls to `measured`. */
async function runProcess(env: Record<string, string>, events: readonly object[], measured: Measured): Promise<void> {
  const child = fork(pathOf('functions/process.ts'), {
    env: { ...env, PATH: process.env.PATH, HOME: tmpdir() },
    serialization: 'advanced',
    silent: true,
  });
  const nextReport = async () => (await once(child, 'message'))[0] as { cpuMs: number; status?: unknown };
  const init = await nextReport();
  for (const [index, event] of events.entries()) {
    child.send(event);
    const { cpuMs, status } = await nextReport();
    if (status !== 200) throw new Error(`${env.BUNDLE} answers ${status}`);
    if (index === 0) measured.initAndFirst.add(0, init.cpuMs + cpuMs);
    else measured.warm.add(0, cpuMs);
  }
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

/** @returns a function that runs a bundle, with calls that no earlier process had */
function runnerOf(env: Record<string, string>, stepMs: number, eventOf: (call: number) => object, measured: Measured) {
  let called = 0;
  return async () => {
    const clock = { STEP_MS: String(stepMs), AHEAD_MS: String(stepMs * called) };
    const events = Array.from({ length: CALLS }, (_, index) => eventOf(called + index));
    called += CALLS;
    await runProcess({ ...env, ...clock }, events, measured);
  };
}

export async function run(add: (figure: Figure) => void): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'functions-'));
  const lines = linesFor(CALLS * ROUNDS);
  await using resources = new AsyncDisposableStack();
  const forOurs = resources.adopt(await startBenchService(lines), ({ stop }) => stop());
  const forBare = resources.adopt(await startBenchService(lines, forOurs.endpoint), ({ stop }) => stop());
  const record = await createRecorder(forBare.table.name, lines, CALLS);
  const env = {
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    DYNAMODB_ENDPOINT: forOurs.endpoint,
    SHARED_GATEWAY_KEY: 'shared',
    TABLE_NAME: forOurs.table.name,
  };
  const bareFile = join(folder.path, 'bare.mjs');
  const bareBytes = await bundle('functions/bare.ts', bareFile);
  for (const subject of SUBJECTS) {
    const { operation, body, stepMs } = subject;
    const { name } = operation;
    const event = (call: number) => eventOf(operation, DEMO_KEYS.demo, body(call));
    const file = join(folder.path, `${name}.mjs`);
    const bytes = await bundle(`../../functions/${name}.ts`, file, { alias: aliases() });
    const recorded = await record(subject, CALLS * ROUNDS);
    const [ours, bare] = [createMeasured(), createMeasured()];
    await inTurns(ROUNDS, [
      runnerOf({ ...env, BUNDLE: file }, stepMs, event, ours),
      runnerOf({ ...env, BUNDLE: bareFile }, stepMs, (call) => ({ rounds: recorded[call] }), bare),
    ]);
    const compare = (what: string, unit: string, value: number, baseline: number, most: number) =>
      add({ name: `${name}: ${what}`, value, unit, baseline: { name: 'a bare handler', value: baseline }, most });
    compare('bundle', 'KB', bytes / 1024, bareBytes / 1024, 1);
    compare('CPU of init + first call', 'ms', ours.initAndFirst.meanCpu(), bare.initAndFirst.meanCpu(), 0.85);
    const most = operation === browseFleet ? 0.75 : 0.95;
    compare('CPU of a warm call', 'ms', ours.warm.meanCpu(), bare.warm.meanCpu(), most);
  }
  for (const { what, used, least } of await measureUnits(forOurs.endpoint))
    for (const [name, value] of Object.entries(least).filter(([, value]) => value > 0))
      add({
        name: `${what}: ${name}`,
        value: used[name as keyof typeof least],
        unit: name === 'rounds' ? '' : 'units',
        baseline: { name: 'the least possible', value },
      });
}
