/**
 * How long the import of each deployed bundle takes, and how large it is, against a bare handler: one GetItem through the
 * document client, bundled by esbuild as ES module and minified. A bundle that reads DynamoDB while it is imported is
 * compared with the bare handler's import and first call. DynamoDB answers at once. Each import is a process of its own, turn about.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { App } from 'aws-cdk-lib';
import { ServiceStack } from '../../../infra/stack.ts';
import { functionsOf, type Template } from '../../local/template.ts';
import { bundle } from '../bundle.ts';
import type { NewFigure } from '../report.ts';

const execute = promisify(execFile);
const ROUNDS = 31;
const BUDGET_BYTES = 260_000;
const REFUSE_ROUTE_BYTES = 15_000;

interface Bundle {
  file: string;
  env: Record<string, string>;
}

/** Milliseconds that a fresh Node takes to import a bundle, and to call it if asked to. */
async function startTime({ file, env }: Bundle, endpoint: string, call: boolean): Promise<number> {
  const script = `const began = performance.now(); const { handler } = await import(${JSON.stringify(file)});
    ${call ? "await handler({ id: 'a' });" : ''}
    process.stdout.write(String(performance.now() - began)); process.exit(0);`;
  const ofAws = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' };
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', script], {
    cwd: tmpdir(),
    env: { ...env, ...ofAws, DYNAMODB_ENDPOINT: endpoint, AWS_ENDPOINT_URL_DYNAMODB: endpoint },
  });
  return Number(stdout);
}

const median = (values: number[]) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)] as number;

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cold-start-'));
  let requests = 0;
  const dynamodb = createServer((_request, reply) => {
    requests += 1;
    reply.end('{}');
  }).listen(0, '127.0.0.1');
  await once(dynamodb, 'listening');
  const endpoint = `http://127.0.0.1:${(dynamodb.address() as AddressInfo).port}`;
  try {
    const app = new App({ outdir: folder, analyticsReporting: false });
    const { artifactId } = new ServiceStack(app, 'Bundled');
    const functions = functionsOf(app.synth().getStackArtifact(artifactId).template as Template);
    const bundles = new Map<string, Bundle>();
    for (const [name, { Properties }] of functions) {
      const variables = Object.entries(Properties.Environment?.Variables ?? {});
      bundles.set(name, {
        file: join(folder, `asset.${String(Properties.Code.S3Key).replace('.zip', '')}`, 'index.mjs'),
        env: Object.fromEntries(variables.map(([key, value]) => [key, typeof value === 'string' ? value : 'table'])),
      });
    }
    const bare: Bundle = { file: join(folder, 'bare.mjs'), env: { TABLE_NAME: 'table' } };
    await bundle(fileURLToPath(new URL('../bare-handler.ts', import.meta.url)), bare.file);

    const times = new Map<string, number[]>(['import', 'call', ...bundles.keys()].map((name) => [name, []]));
    const reading = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const what of ['import', 'call']) times.get(what)?.push(await startTime(bare, endpoint, what === 'call'));
      for (const [name, built] of bundles) {
        requests = 0;
        times.get(name)?.push(await startTime(built, endpoint, false));
        if (requests > 0) reading.add(name);
      }
    }

    const timeOf = (name: string) => median(times.get(name) as number[]);
    for (const [name, { file }] of bundles) {
      const small = name === 'fallback-route';
      const reads = reading.has(name);
      add({
        name: `${name}: import${reads ? ' and first read' : ''}`,
        value: timeOf(name),
        unit: 'ms',
        baseline: { name: 'a bare handler', value: timeOf(reads ? 'call' : 'import') },
        target: { most: small ? 0.1 : 0.75 },
      });
      add({
        name: `${name}: size`,
        value: statSync(file).size,
        unit: 'bytes',
        target: { most: small ? REFUSE_ROUTE_BYTES : BUDGET_BYTES },
      });
    }
    add({ name: 'bare handler: size', value: readFileSync(bare.file).length, unit: 'bytes' });
  } finally {
    dynamodb.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
