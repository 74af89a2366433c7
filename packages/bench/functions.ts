/**
 * Compares functions with a bare handler that makes the same calls to DynamoDB by the document client. Each is bundled as deployed, and runs
 * in processes of its own.
 */

import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_KEYS } from '../local/sample.ts';
import { bundle, compare, environmentOf, ROUNDS } from './functions/processes.ts';
import { createRecorder, linesFor, SUBJECTS } from './functions/subjects.ts';
import { measureUnits } from './functions/units.ts';
import type { Figure } from './run.ts';
import { eventOf, startBenchService } from './service.ts';

/** Calls in each process: a first one, and 80 warm ones. */
const CALLS = 81;

export async function run(add: (figure: Figure) => void): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'functions-'));
  const lines = linesFor(CALLS * ROUNDS);
  await using service = await startBenchService(lines);
  const { endpoint } = service;
  // The bare handler has a table of its own, since a call may be made only once.
  await using ofBare = await startBenchService(lines, endpoint);
  const record = await createRecorder(ofBare.table.name, lines, CALLS);
  const bare = await bundle({ module: 'bare' }, folder.path);
  for (const subject of SUBJECTS) {
    const { operation, body, stepMs, mostWarm } = subject;
    const { name } = operation;
    const event = (call: number) => eventOf(operation, DEMO_KEYS.demo, body(call));
    const recorded = await record(subject, CALLS * ROUNDS);
    const calls = { env: environmentOf(endpoint, service.table.name), calls: CALLS, stepMs };
    await compare(
      {
        name,
        baselineName: 'a bare handler',
        ours: { ...calls, bundle: await bundle({ operation: name }, folder.path), eventOf: event },
        baseline: { ...calls, bundle: bare, eventOf: (call) => ({ ...event(call), rounds: recorded[call] }) },
        most: { bundle: 1, initAndFirst: 0.85, warm: mostWarm },
      },
      add,
    );
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
