import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App } from 'aws-cdk-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GRANTS } from '../../infra/grants.ts';
import { functionsOf, type Resource, type Template } from '../../infra/local/template.ts';
import { ServiceStack } from '../../infra/stack.ts';
import { browseFleet } from '../../lib/api/operations.ts';

const run = promisify(execFile);
const { devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
let folder: string;
let functions: Map<string, Resource & { id: string }>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  const app = new App({ outdir: folder, analyticsReporting: false });
  const { artifactId } = new ServiceStack(app, 'Bundled');
  functions = functionsOf(app.synth().getStackArtifact(artifactId).template as Template);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The folder of a function's code, and its environment with references filled in. */
function deployed(name: string) {
  const { Properties } = functions.get(name) as Resource;
  const hash = String(Properties.Code.S3Key).replace('.zip', '');
  const variables = Object.entries(Properties.Environment?.Variables ?? {});
  const env = Object.fromEntries(variables.map(([key, value]) => [key, typeof value === 'string' ? value : 'a-table']));
  return { path: join(folder, `asset.${hash}`), env, handler: String(Properties.Handler) };
}

/** Starts a bundle as Lambda would: Node alone, the handler by its name, the template's environment; and calls it. */
async function start(name: string, event: object) {
  const { path, env, handler } = deployed(name);
  const [file, exported] = handler.split('.');
  const script = `
    const { ${exported} } = await import(${JSON.stringify(join(path, `${file}.mjs`))});
    const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 29000 };
    const answer = await ${exported}(${JSON.stringify(event)}, context).catch((error) => ({ thrown: error.name }));
    process.stdout.write('\\nANSWER' + JSON.stringify(answer ?? null));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    cwd: tmpdir(),
    env: { ...env, AWS_REGION: 'eu-west-1', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
  });
  return { answer: JSON.parse(stdout.slice(stdout.indexOf('ANSWER') + 'ANSWER'.length)), stdout };
}

const call = {
  path: browseFleet.path,
  httpMethod: 'POST',
  headers: {},
  queryStringParameters: { app_key: 'the-secret-key' },
  requestContext: { requestId: 'request-1' },
  body: null,
};

describe('every bundle, started as Lambda would', () => {
  it.each(['browse-fleet', 'get-rum-resource', 'delete-work-item', 'merge-alerts'])(
    '%s answers in the envelope while DynamoDB is away, and prints no key',
    async (name) => {
      const { answer, stdout } = await start(name, call);
      expect(answer.statusCode).toBe(503);
      expect(JSON.parse(answer.body)).toMatchObject({ request_id: 'request-1', error: { code: 'ServiceUnavailable' } });
      expect(stdout).not.toContain('the-secret-key');
    },
  );

  it('refuse-route answers 404 and 405', async () => {
    expect((await start('refuse-route', { ...call, httpMethod: 'GET' })).answer.statusCode).toBe(405);
    expect((await start('refuse-route', { ...call, path: '/x' })).answer.statusCode).toBe(404);
  });

  it('label-caller labels the call with the shared key while DynamoDB is away', async () => {
    const { answer, stdout } = await start('label-caller', { ...call, methodArn: 'arn:a/v1/POST/alert/merge' });
    expect(answer).toMatchObject({ usageIdentifierKey: deployed('label-caller').env.SHARED_GATEWAY_KEY });
    expect(stdout).not.toContain('the-secret-key');
  });

  it('finish-merges takes a batch', async () => {
    expect((await start('finish-merges', { Records: [] })).answer).toBeNull();
  });

  it('counts a call in the embedded metric format, by operation and code', async () => {
    const { stdout } = await start('delete-work-item', call);
    const line = stdout.split('\n').find((one) => one.includes('CloudWatchMetrics'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      operation: 'delete-work-item',
      code: 'ServiceUnavailable',
      service: 'incident-monitoring-rum',
      Calls: expect.anything(),
      _aws: { CloudWatchMetrics: [{ Namespace: 'IncidentMonitoringRum' }] },
    });
  });

  it.each(Object.keys(GRANTS))('%s holds no development dependency and is no larger than it must be', (name) => {
    const { path } = deployed(name);
    expect(readdirSync(path).sort()).toEqual(['index.mjs', 'index.mjs.map']);
    expect(statSync(join(path, 'index.mjs')).size).toBeLessThan(name === 'refuse-route' ? 40_000 : 700_000);
    const { sources } = JSON.parse(readFileSync(join(path, 'index.mjs.map'), 'utf8')) as { sources: string[] };
    const packages = new Set(sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]));
    expect([...packages].filter((name) => name !== undefined && name in devDependencies)).toEqual([]);
  });
});
