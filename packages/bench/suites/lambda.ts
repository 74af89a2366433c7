/**
 * Functions as Lambda runs them, against a bare handler that makes the same calls to DynamoDB; and how long their calls take with more and less
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
import { createRecorder, linesFor, SUBJECTS, type Subject } from '../lambda/subjects.ts';
import type { Add } from '../report.ts';
import { createTimes, inTurns } from '../timings.ts';

/** Memory of the operations. */
const MEMORY_MB = 512;
const OTHER_MEMORY_MB = [256, 1_024];
/** Milliseconds to DynamoDB and back, with the names of the figures. */
const DISTANCES = { near: 1, far: 5 } as const;
const ROUNDS = 3;
/** Calls in each environment: a first one, and 80 warm ones. */
const CALLS = 81;
const COMPARED_CALLS = CALLS * ROUNDS * Object.keys(DISTANCES).length;
const ALL_CALLS = COMPARED_CALLS + CALLS * ROUNDS * OTHER_MEMORY_MB.length;

type Run = (memoryMb: number, endpoint: string, into: Measured) => Promise<void>;

/** @returns runs a bundle in a new environment, with calls that no environment before had */
function environments(
  file: string,
  env: Record<string, string>,
  eventOf: (call: number) => object,
  { stepMs }: Subject,
): Run {
  let called = 0;
  return (memoryMb, endpoint, into) => {
    const all = { ...env, DYNAMODB_ENDPOINT: endpoint, STEP_MS: String(stepMs), AHEAD_MS: String(stepMs * called) };
    const events = Array.from({ length: CALLS }, (_, index) => eventOf(called + index));
    called += CALLS;
    return runEnvironment(file, memoryMb, all, events, into);
  };
}

type Endpoints = Record<keyof typeof DISTANCES, string>;

/** Adds the times of a function against the bare handler, and its times with other memory against those with its own. */
async function measure(name: string, ours: Run, bare: Run, endpoints: Endpoints, add: Add): Promise<void> {
  const baseline = (value: number) => ({ name: 'a bare handler', value });
  const cpu = { ours: createTimes(), bare: createTimes() };
  const own = { near: createMeasured(cpu.ours), far: createMeasured(cpu.ours) };
  for (const distance of ['near', 'far'] as const) {
    const [of, ofBare] = [own[distance], createMeasured(cpu.bare)];
    const endpoint = endpoints[distance];
    await inTurns(ROUNDS, [() => ours(MEMORY_MB, endpoint, of), () => bare(MEMORY_MB, endpoint, ofBare)]);
    const where = `DynamoDB ${DISTANCES[distance]} ms away`;
    add({
      name: `${name}: init + first call, ${where}`,
      value: of.initAndFirst.percentile(50),
      unit: 'ms',
      baseline: baseline(ofBare.initAndFirst.percentile(50)),
      target: { most: 0.75 },
    });
    add({
      name: `${name}: p50, ${where}`,
      value: of.warm.percentile(50),
      unit: 'ms',
      baseline: baseline(ofBare.warm.percentile(50)),
      target: { most: 1 },
    });
  }
  add({
    name: `${name}: CPU of a warm call`,
    value: cpu.ours.mean(),
    unit: 'ms',
    baseline: baseline(cpu.bare.mean()),
    target: { most: 0.9 },
  });
  for (const memoryMb of OTHER_MEMORY_MB) {
    const measured = createMeasured();
    for (let round = 0; round < ROUNDS; round += 1) await ours(memoryMb, endpoints.near, measured);
    add({
      name: `${name}: mean of a warm call with ${memoryMb} MB`,
      value: measured.warm.mean(),
      unit: 'ms',
      baseline: { name: `with ${MEMORY_MB} MB`, value: own.near.warm.mean() },
    });
  }
}

export async function run(add: Add): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lambda-'));
  const lines = linesFor(ALL_CALLS);
  const forOurs = await startBenchService(lines);
  const forBare = await startBenchService(lines, forOurs.endpoint);
  const record = await createRecorder(forBare.table.name, lines, CALLS);
  const certificate = createCertificate(folder);
  const near = await startProxy(forOurs.endpoint, certificate.env, DISTANCES.near);
  const far = await startProxy(forOurs.endpoint, certificate.env, DISTANCES.far);
  const endpoints = { near: near.endpoint, far: far.endpoint };
  const env = {
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    NODE_EXTRA_CA_CERTS: certificate.file,
    SHARED_GATEWAY_KEY: 'shared',
    TABLE_NAME: forOurs.table.name,
  };
  try {
    const bare = await bundle('bare.ts', join(folder, 'bare.mjs'));
    for (const subject of SUBJECTS) {
      const { name, event } = subject;
      const ours = await bundle(`../../../functions/${name}.ts`, join(folder, `${name}.mjs`), { alias: aliases() });
      add({
        name: `${name}: bundle`,
        value: ours.bytes / 1024,
        unit: 'KB',
        baseline: { name: 'a bare handler', value: bare.bytes / 1024 },
      });
      const recorded = await record(subject, COMPARED_CALLS);
      const runOurs = environments(ours.file, env, event, subject);
      const runBare = environments(bare.file, env, (call) => ({ rounds: recorded[call] }), subject);
      await measure(name, runOurs, runBare, endpoints, add);
    }
  } finally {
    for (const proxy of [near, far]) proxy.stop();
    await forBare.stop();
    await forOurs.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
