/**
 * Compares functions with a bare handler that makes the same calls to DynamoDB by the document client. Each is bundled as deployed, and runs
 * in processes of its own.
 */

import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS } from '../local/sample.ts';
import { type Bundle, bundle, createRunner, environmentOf, type Runner } from './functions/processes.ts';
import { createRecorder, linesFor, SUBJECTS } from './functions/subjects.ts';
import { measureUnits } from './functions/units.ts';
import type { Figure } from './run.ts';
import { eventOf, startBenchService } from './service.ts';
import { inTurns } from './timings.ts';

const ROUNDS = 6;
/** Calls in each process: a first one, and 80 warm ones. */
const CALLS = 81;

export async function run(add: (figure: Figure) => void): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'functions-'));
  const lines = linesFor(CALLS * ROUNDS);
  await using resources = new AsyncDisposableStack();
  const start = async (endpoint?: string) =>
    resources.adopt(await startBenchService(lines, endpoint), ({ stop }) => stop());
  const { endpoint, table } = await start();
  const env = environmentOf(endpoint, table.name);
  // The bare handler has a table of its own, since a call may be made only once.
  const record = await createRecorder((await start(endpoint)).table.name, lines, CALLS);
  const bare = await bundle({ module: 'bare' }, folder.path);
  for (const subject of SUBJECTS) {
    const { operation, body, stepMs, mostWarm } = subject;
    const { name } = operation;
    const event = (call: number) => eventOf(operation, DEMO_KEYS.demo, body(call));
    const runnerOf = (bundle: Bundle, eventOf: (call: number) => object) =>
      createRunner({ bundle, env, calls: CALLS, stepMs, eventOf });
    const ours = runnerOf(await bundle({ operation: name }, folder.path), event);
    const recorded = await record(subject, CALLS * ROUNDS);
    const baseline = runnerOf(bare, (call) => ({ ...event(call), rounds: recorded[call] }));
    await inTurns(ROUNDS, [ours.run, baseline.run]);
    const compare = (what: string, unit: string, figureOf: (runner: Runner) => number, most: number) =>
      add({
        name: `${name}: ${what}`,
        value: figureOf(ours),
        unit,
        baseline: { name: 'a bare handler', value: figureOf(baseline) },
        most,
      });
    compare('bundle', 'KB', ({ bundle }) => bundle.bytes / 1024, 1);
    compare('CPU of init + first call', 'ms', ({ initAndFirst }) => initAndFirst(), 0.85);
    compare('CPU of a warm call', 'ms', ({ warm }) => warm(), mostWarm);
  }
  for (const { what, used, least } of await measureUnits(endpoint))
    for (const [name, value] of Object.entries(least).filter(([, value]) => value > 0))
      add({
        name: `${what}: ${name}`,
        value: used[name as keyof typeof least],
        unit: name === 'rounds' ? '' : 'units',
        baseline: { name: 'the least possible', value },
      });
}
