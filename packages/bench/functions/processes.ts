/** Bundles modules, and compares the CPU time of their calls in processes of their own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { FunctionName } from '../../../infra/grants.ts';
import { aliases } from '../../../infra/replaced-modules.ts';
import type { Figure } from '../run.ts';
import { inTurns } from '../timings.ts';

const pathOf = (module: string) => fileURLToPath(new URL(module, import.meta.url));

/** The environment of a function of the service, and of a handler that is compared with it. */
export const environmentOf = (endpoint: string, table: string) => ({
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  DYNAMODB_ENDPOINT: endpoint,
  SHARED_GATEWAY_KEY: 'shared',
  TABLE_NAME: table,
});

export interface Bundle {
  readonly file: string;
  readonly bytes: number;
}

/** Bundles a function of the service as it is deployed, or a module of this folder as a careful user deploys it. */
export async function bundle(source: { operation: FunctionName } | { module: string }, folder: string) {
  const isOurs = 'operation' in source;
  const name = isOurs ? source.operation : source.module;
  const file = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [pathOf(isOurs ? `../../../functions/${name}.ts` : `./${name}.ts`)],
    outfile: file,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    ...(isOurs && { alias: aliases() }),
  });
  return { file, bytes: statSync(file).size } satisfies Bundle;
}

/** Starts a process that answers calls of a bundle. Its first message says what the import has taken. */
export const startProcess = ({ file }: Bundle, env: Readonly<Record<string, string>>) =>
  fork(pathOf('process.ts'), {
    env: { ...env, BUNDLE: file, PATH: process.env.PATH, HOME: tmpdir() },
    serialization: 'advanced',
    silent: true,
  });

interface Calls {
  readonly bundle: Bundle;
  readonly env: Readonly<Record<string, string>>;
  /** Calls in each process: a first one, and the warm ones. */
  readonly calls: number;
  /** Milliseconds by which the clock is set forward for each call. */
  readonly stepMs?: number;
  eventOf(call: number): object;
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** @returns `run`: makes the calls in a new process, none of which an earlier process made; the mean CPU milliseconds of all processes */
function createRunner({ bundle, env, calls, stepMs = 0, eventOf }: Calls) {
  const initAndFirst: number[] = [];
  const warm: number[] = [];
  let called = 0;
  async function run(): Promise<void> {
    const clock = { STEP_MS: String(stepMs), AHEAD_MS: String(stepMs * called) };
    const child = startProcess(bundle, { ...env, ...clock });
    const nextReport = async () => (await once(child, 'message'))[0] as { cpuMs: number; status?: unknown };
    const init = await nextReport();
    for (let call = 0; call < calls; call += 1) {
      child.send(eventOf(called + call));
      const { cpuMs, status } = await nextReport();
      if (status !== 200) throw new Error(`${bundle.file} answers ${status}`);
      if (call === 0) initAndFirst.push(init.cpuMs + cpuMs);
      else warm.push(cpuMs);
    }
    called += calls;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  }
  return { run, initAndFirst: () => meanOf(initAndFirst), warm: () => meanOf(warm) };
}

/** Processes of each side. */
export const ROUNDS = 6;

interface Comparison {
  readonly name: string;
  readonly baselineName: string;
  /** What the calls are, if the function has several comparisons. */
  readonly what?: string;
  readonly ours: Calls;
  readonly baseline: Calls;
  /** The largest ratios that are accepted; bundle and init are compared only if they have one. */
  readonly most: { readonly bundle?: number; readonly initAndFirst?: number; readonly warm: number };
}

/** Compares a function with a baseline, each in processes of its own, which take turns. */
export async function compare(
  { name, baselineName, what, ours, baseline, most }: Comparison,
  add: (figure: Figure) => void,
): Promise<void> {
  const [left, right] = [createRunner(ours), createRunner(baseline)];
  await inTurns(ROUNDS, [left.run, right.run]);
  const addFigure = (figure: string, unit: string, value: number, ofBaseline: number, most: number | undefined) => {
    if (most !== undefined)
      add({ name: `${name}: ${figure}`, value, unit, baseline: { name: baselineName, value: ofBaseline }, most });
  };
  addFigure('bundle', 'KB', ours.bundle.bytes / 1024, baseline.bundle.bytes / 1024, most.bundle);
  addFigure('CPU of init + first call', 'ms', left.initAndFirst(), right.initAndFirst(), most.initAndFirst);
  addFigure(`CPU of a warm call${what ? `, ${what}` : ''}`, 'ms', left.warm(), right.warm(), most.warm);
}
