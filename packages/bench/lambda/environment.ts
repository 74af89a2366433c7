/** Runs functions as Lambda does: as bundles in processes of their own, which call DynamoDB over TLS with a round-trip time. */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { createTimes } from '../timings.ts';
import { cpuShareOf, limitCpu } from './cpu-share.ts';

const pathOf = (module: string) => fileURLToPath(new URL(module, import.meta.url));

/** Bundles a module of this folder as a careful user deploys it. @returns the file of the bundle, and its bytes */
export async function bundle(module: string, outfile: string, options: BuildOptions = {}) {
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
  return { file: outfile, bytes: statSync(outfile).size };
}

/** Creates the certificate of the proxies. @returns its file, and the environment variables of a proxy */
export function createCertificate(folder: string) {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const args = ['req', '-x509', ...curve, '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '2', ...names];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return { file: certFile, env: { KEY: readFileSync(keyFile, 'utf8'), CERT: readFileSync(certFile, 'utf8') } };
}

/** Starts a proxy that adds a round-trip time to a DynamoDB-compatible server. @returns its endpoint with the credentials of the target */
export async function startProxy(target: string, certificate: { KEY: string; CERT: string }, roundTripMs: number) {
  const { port, username } = new URL(target);
  const env = { ...certificate, TARGET_PORT: port, ROUND_TRIP_MS: String(roundTripMs), PATH: process.env.PATH };
  const child = fork(pathOf('proxy.ts'), { env });
  const [proxyPort] = await once(child, 'message');
  return { endpoint: `https://${username || 'local'}@localhost:${proxyPort}`, stop: () => child.disconnect() };
}

/** The times of calls in execution environments. */
export const createMeasured = () => ({ initAndFirst: createTimes(), warm: createTimes() });
export type Measured = ReturnType<typeof createMeasured>;

interface Report {
  tookMs: number;
  cpuMs: number;
  status?: unknown;
}

/** Runs a bundle in a new environment, and adds the times of its initialization and its calls to `measured`. */
export async function runEnvironment(
  file: string,
  memoryMb: number,
  env: Record<string, string>,
  events: readonly object[],
  measured: Measured,
): Promise<void> {
  const child = fork(pathOf('process.ts'), {
    env: { ...env, BUNDLE: file, PATH: process.env.PATH, HOME: tmpdir() },
    serialization: 'advanced',
    silent: true,
  });
  const nextReport = async () => (await once(child, 'message'))[0] as Report;
  const init = await nextReport();
  // Lambda initializes a function with a whole CPU.
  const unlimit = limitCpu(child.pid as number, cpuShareOf(memoryMb));
  for (const [index, event] of events.entries()) {
    child.send(event);
    const { tookMs, cpuMs, status } = await nextReport();
    if (status !== 200) throw new Error(`${file} answers ${status}`);
    if (index === 0) measured.initAndFirst.add(init.tookMs + tookMs);
    else measured.warm.add(tookMs, cpuMs);
  }
  unlimit();
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
