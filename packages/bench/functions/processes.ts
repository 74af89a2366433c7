/** Bundles modules, and measures the CPU time of their calls in processes of their own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { FunctionName } from '../../../infra/grants.ts';
import { aliases } from '../../../infra/replaced-modules.ts';
import { createTimes } from '../timings.ts';

export const pathOf = (module: string) => fileURLToPath(new URL(module, import.meta.url));

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

export interface Calls {
  readonly bundle: Bundle;
  readonly env: Readonly<Record<string, string>>;
  /** Calls in each process: a first one, and the warm ones. */
  readonly calls: number;
  /** Milliseconds by which the clock is set forward for each call. */
  readonly stepMs?: number;
  eventOf(call: number): object;
}

/** @returns `run`: makes the calls in a new process, none of which an earlier process made; the CPU milliseconds of all processes */
export function createRunner({ bundle, env, calls, stepMs = 0, eventOf }: Calls) {
  const [initAndFirst, warm] = [createTimes(), createTimes()];
  let called = 0;
  async function run(): Promise<void> {
    const clock = { STEP_MS: String(stepMs), AHEAD_MS: String(stepMs * called) };
    const child = fork(pathOf('process.ts'), {
      env: { ...env, ...clock, BUNDLE: bundle.file, PATH: process.env.PATH, HOME: tmpdir() },
      serialization: 'advanced',
      silent: true,
    });
    const nextReport = async () => (await once(child, 'message'))[0] as { cpuMs: number; status?: unknown };
    const init = await nextReport();
    for (let call = 0; call < calls; call += 1) {
      child.send(eventOf(called + call));
      const { cpuMs, status } = await nextReport();
      if (status !== 200) throw new Error(`${bundle.file} answers ${status}`);
      if (call === 0) initAndFirst.add(0, init.cpuMs + cpuMs);
      else warm.add(0, cpuMs);
    }
    called += calls;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  }
  return { bundle, run, initAndFirst: initAndFirst.meanCpu, warm: warm.meanCpu };
}
export type Runner = ReturnType<typeof createRunner>;
