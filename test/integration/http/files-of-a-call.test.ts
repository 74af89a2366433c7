/**
 * How many of our files a warm call executes, in the form that is deployed, without those of `lib/aws/`, which replace files of the SDK.
 * `--reporter=verbose` prints them.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { aliases } from '../../../infra/replaced-modules.ts';
import type { OperationName } from '../../../lib/operations/index.ts';
import { linesFor, SUBJECTS } from '../../../packages/bench/functions/subjects.ts';
import { eventOf, startBenchService } from '../../../packages/bench/service.ts';
import { DEMO_KEYS } from '../../../packages/local/sample.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';

const MOST: Readonly<Partial<Record<OperationName, number>>> = {
  'browse-fleet': 16,
  'merge-alerts': 24,
  'get-rum-resource': 12,
  'delete-work-item': 12,
};

const service = await startBenchService(linesFor(2), dynamodbEndpoint());
afterAll(() => service.stop());

/** Makes two calls, and prints where in the bundle the functions begin that the second one has called. */
const scriptFor = (bundle: string, events: readonly object[]) => `
  import { Session } from 'node:inspector/promises';
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const { handler } = await import(${JSON.stringify(bundle)});
  const write = process.stdout.write;
  process.stdout.write = () => true;
  let functions;
  for (const event of ${JSON.stringify(events)}) {
    const { statusCode } = await handler(event, { awsRequestId: 'a' });
    if (statusCode !== 200) throw new Error(statusCode);
    const { result } = await session.post('Profiler.takePreciseCoverage'); // resets the counters
    ({ functions } = result.find(({ url }) => url.endsWith(${JSON.stringify(bundle)})));
  }
  const called = functions.filter(({ ranges }) => ranges[0].count > 0);
  write.call(process.stdout, JSON.stringify(called.map(({ ranges }) => ranges[0].startOffset)));
  process.exit();`;

it.for(SUBJECTS)('$operation.name', async ({ operation, body }, { annotate }) => {
  const bundle = join(tmpdir(), `${operation.name}.mjs`);
  const entryPoints = [`functions/${operation.name}.ts`];
  const options = { bundle: true, format: 'esm', platform: 'node', target: 'node24' } as const;
  await build({ entryPoints, outfile: bundle, ...options, mainFields: ['module', 'main'], alias: aliases() });
  const script = scriptFor(
    bundle,
    [0, 1].map((index) => eventOf(operation, DEMO_KEYS.demo, body(index))),
  );
  const credentials = { AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
  const env = { ...credentials, DYNAMODB_ENDPOINT: service.endpoint, TABLE_NAME: service.table.name };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
  // esbuild writes the name of each file above its code.
  const names = [...readFileSync(bundle, 'utf8').matchAll(/^\/\/ (\S+\/\S+)$/gm)];
  const executed = (JSON.parse(stdout) as number[]).map(
    (offset) => names.findLast(({ index }) => index < offset)?.[1] ?? '',
  );
  const files = [...new Set(executed)].filter((file) => /^(lib(?!\/aws)|functions)\//.test(file)).sort();
  await annotate(`${files.length} files: ${files.join(', ')}`);
  expect(files).toContain('lib/http/call.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(MOST[operation.name] ?? 0);
});
