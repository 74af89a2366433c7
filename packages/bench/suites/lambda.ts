/**
 * Compares functions, run as Lambda runs them, with a bare handler that makes the same calls to DynamoDB, and with themselves at more and less
 * memory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aliases } from '../../../infra/left-out.ts';
import { startBenchService } from '../bench-service.ts';
import {
  bundle,
  createCertificate,
  createMeasured,
  type Measured,
  runEnvironment,
  startProxy,
} from '../lambda/environment.ts';
import { createRecorder, linesFor, SUBJECTS } from '../lambda/subjects.ts';
import type { AddFigure } from '../report.ts';
import { inTurns } from '../timings.ts';

/** Memory of the operations. */
const MEMORY_MB = 512;
const OTHER_MEMORY_MB = [256, 1_024];
/** Round-trip time to DynamoDB, in milliseconds. */
const ROUND_TRIP_MS = 1;
const ROUNDS = 6;
/** Calls in each environment: a first one, and 80 warm ones. */
const CALLS = 81;

/** @returns a function that runs a bundle in a new environment, with calls that no earlier environment had */
function environmentRunner(
  file: string,
  env: Record<string, string>,
  eventOf: (call: number) => object,
  stepMs: number,
) {
  let called = 0;
  return (memoryMb: number, measured: Measured) => {
    const clock = { STEP_MS: String(stepMs), AHEAD_MS: String(stepMs * called) };
    const events = Array.from({ length: CALLS }, (_, index) => eventOf(called + index));
    called += CALLS;
    return runEnvironment(file, memoryMb, { ...env, ...clock }, events, measured);
  };
}
type Run = ReturnType<typeof environmentRunner>;

/** Adds figures that compare a function with the bare handler, and its times at other memory sizes with those at {@link MEMORY_MB}. */
async function measure(name: string, runOurs: Run, runBare: Run, add: AddFigure): Promise<void> {
  const [ours, bare] = [createMeasured(), createMeasured()];
  await inTurns(ROUNDS, [() => runOurs(MEMORY_MB, ours), () => runBare(MEMORY_MB, bare)]);
  const compare = (what: string, value: (measured: Measured) => number, most: number) =>
    add({
      name: `${name}: ${what}`,
      value: value(ours),
      unit: 'ms',
      baseline: { name: 'a bare handler', value: value(bare) },
      target: { most },
    });
  compare('init + first call', ({ initAndFirst }) => initAndFirst.percentile(50), 0.75);
  compare('p50', ({ warm }) => warm.percentile(50), 1);
  compare('CPU of a warm call', ({ warm }) => warm.meanCpu(), 0.9);
  for (const memoryMb of OTHER_MEMORY_MB) {
    const measured = createMeasured();
    for (let round = 0; round < ROUNDS; round += 1) await runOurs(memoryMb, measured);
    add({
      name: `${name}: mean of a warm call with ${memoryMb} MB`,
      value: measured.warm.mean(),
      unit: 'ms',
      baseline: { name: `with ${MEMORY_MB} MB`, value: ours.warm.mean() },
    });
  }
}

export async function run(add: AddFigure): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lambda-'));
  const lines = linesFor(CALLS * ROUNDS * (1 + OTHER_MEMORY_MB.length));
  const forOurs = await startBenchService(lines);
  const forBare = await startBenchService(lines, forOurs.endpoint);
  const record = await createRecorder(forBare.table.name, lines, CALLS);
  const certificate = createCertificate(folder);
  const proxy = await startProxy(forOurs.endpoint, certificate.env, ROUND_TRIP_MS);
  const env = {
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    DYNAMODB_ENDPOINT: proxy.endpoint,
    NODE_EXTRA_CA_CERTS: certificate.file,
    SHARED_GATEWAY_KEY: 'shared',
    TABLE_NAME: forOurs.table.name,
  };
  try {
    const bare = await bundle('bare.ts', join(folder, 'bare.mjs'));
    for (const subject of SUBJECTS) {
      const { name, event, stepMs } = subject;
      const ours = await bundle(`../../../functions/${name}.ts`, join(folder, `${name}.mjs`), { alias: aliases() });
      add({
        name: `${name}: bundle`,
        value: ours.bytes / 1024,
        unit: 'KB',
        baseline: { name: 'a bare handler', value: bare.bytes / 1024 },
        target: { most: 1 },
      });
      const recorded = await record(subject, CALLS * ROUNDS);
      const runOurs = environmentRunner(ours.file, env, event, stepMs);
      const runBare = environmentRunner(bare.file, env, (call) => ({ rounds: recorded[call] }), stepMs);
      await measure(name, runOurs, runBare, add);
    }
  } finally {
    proxy.stop();
    await forBare.stop();
    await forOurs.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
