import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { globSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { marshall } from '@aws-sdk/util-dynamodb';
import { App } from 'aws-cdk-lib';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { GRANTS } from '../../infra/grants.ts';
import { aliases, CREDENTIALS, HTTP } from '../../infra/left-out.ts';
import { ServiceStack } from '../../infra/stack.ts';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { parseJson } from '../../lib/shared/json.ts';
import { functionsOf, type Resource, type Template } from '../../packages/local/template.ts';
import { serve } from '../support/serve.ts';

const runFile = promisify(execFile);
const manifests = ['package.json', ...globSync('packages/*/package.json')].map((path) =>
  JSON.parse(readFileSync(path, 'utf8')),
);
/** Packages have some of the service's dependencies as development dependencies, too. */
const devDependencies = new Set(
  manifests.flatMap((manifest) => Object.keys(manifest.devDependencies ?? {})),
).difference(new Set(Object.keys(manifests[0].dependencies)));
let folder: string;
let functions: Map<string, Resource & { id: string }>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  // CDK starts esbuild by npx for each function, which takes longer than esbuild does.
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\n[ "$1" = --no-install ] && shift && exec "$@"\n', { mode: 0o755 });
  vi.stubEnv(
    'PATH',
    [folder, fileURLToPath(new URL('../../node_modules/.bin', import.meta.url)), process.env.PATH].join(delimiter),
  );
  // Without CloudFormation's validation rules, which take most of the time: `npm run synth` has them.
  const app = new App({ outdir: folder, analyticsReporting: false, builtinCloudFormationValidation: false });
  const stack = new ServiceStack(app, 'Bundled');
  functions = functionsOf(app.synth().getStackArtifact(stack.artifactId).template as Template);
}, 120_000);

/** The folder of a function's code, and its environment with references filled in. */
function deployed(name: string) {
  const { Properties } = functions.get(name) as Resource;
  const hash = String(Properties.Code.S3Key).replace('.zip', '');
  const variables = Object.entries(Properties.Environment?.Variables ?? {});
  const env = Object.fromEntries(variables.map(([key, value]) => [key, typeof value === 'string' ? value : 'a-table']));
  return { path: join(folder, `asset.${hash}`), env, handler: String(Properties.Handler) };
}

/** Kilobytes of each bundle, rounded up, so that a test fails if it grows. That of ingest-records has an SQS client and ajv. */
const MAX_KILOBYTES: Readonly<Record<string, number>> = {
  'browse-fleet': 300,
  'get-rum-resource': 281,
  'delete-work-item': 275,
  'merge-alerts': 295,
  'finish-merges': 236,
  'send-records': 452,
  'send-notification': 305,
  'ingest-records': 430,
  relay: 278,
  'usage-key-authorizer': 228,
  'fallback-route': 34,
  'openapi-document': 50,
};

/** Starts a bundle as Lambda would: Node alone, the handler by its name, the template's environment; and calls it. */
async function start(name: string, event: object, more: Record<string, string> = {}) {
  const { path, env, handler } = deployed(name);
  const [file, exported] = handler.split('.');
  const script = `
    const { ${exported} } = await import(${JSON.stringify(join(path, `${file}.mjs`))});
    const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 29000 };
    const answer = await ${exported}(${JSON.stringify(event)}, context).catch((error) => ({ thrown: error.name }));
    process.stdout.write('\\nANSWER' + JSON.stringify(answer ?? null));`;
  const { stdout } = await runFile(process.execPath, ['--input-type=module', '-e', script], {
    cwd: tmpdir(),
    // The SDK looks for the home folder, and fails without HOME where the user id has no name.
    env: { ...env, HOME: tmpdir(), AWS_REGION: 'eu-west-1', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9', ...more },
  });
  return { answer: JSON.parse(stdout.slice(stdout.indexOf('ANSWER') + 'ANSWER'.length)), stdout };
}

const apiEvent = {
  resource: browseFleet.path,
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
      const { answer, stdout } = await start(name, apiEvent);
      expect(answer.statusCode).toBe(503);
      expect(JSON.parse(answer.body)).toMatchObject({ request_id: 'request-1', error: { code: 'ServiceUnavailable' } });
      expect(stdout).not.toContain('the-secret-key');
    },
  );

  it('fallback-route answers 404 and 405', async () => {
    expect((await start('fallback-route', { ...apiEvent, httpMethod: 'GET' })).answer.statusCode).toBe(405);
    expect((await start('fallback-route', { ...apiEvent, resource: '/{proxy+}' })).answer.statusCode).toBe(404);
  });

  it('usage-key-authorizer fails while DynamoDB is away, and prints no key', async () => {
    const { answer, stdout } = await start('usage-key-authorizer', {
      ...apiEvent,
      methodArn: 'arn:a/prod/POST/alert/merge',
    });
    expect(answer).toEqual({ thrown: 'Error' });
    expect(stdout).toContain('app key lookup failed');
    expect(stdout).not.toContain('the-secret-key');
  });

  it('openapi-document serves openapi.json, every number exact', async () => {
    const { answer } = await start('openapi-document', { ...apiEvent, httpMethod: 'GET', path: '/openapi.json' });
    const documentText = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
    expect(parseJson(answer.body)).toEqual(parseJson(documentText));
    expect(answer.body).toContain('"maximum":9223372036854775806');
  });

  it.each([
    ['ingest-records', { batchItemFailures: [] }],
    ['finish-merges', null],
  ])('%s takes a batch, and reads its queues from the environment', async (name, answer) => {
    expect((await start(name, { Records: [] })).answer).toEqual(answer);
  });

  it('relay sends merges and events to their queues while EventBridge is down, and publishes events once it is up, by the credentials of the environment', async () => {
    let isUp = false;
    const sent: string[] = [];
    const AWS_ENDPOINT_URL = await serve(async (request, reply) => {
      const { authorization = '', 'x-amz-target': target } = request.headers;
      expect(authorization).toContain('AKIDOFTHEFUNCTION');
      const { Entries } = JSON.parse(await text(request)) as { Entries: Record<string, string>[] };
      const isEvent = target === 'AWSEvents.PutEvents';
      sent.push(...Entries.map(({ MessageBody, Detail }) => (MessageBody ?? Detail) as string));
      const Successful = Entries.map(({ Id, MessageBody = '' }) => ({
        Id,
        MD5OfMessageBody: hash('md5', MessageBody),
      }));
      reply.writeHead(isEvent && !isUp ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
      reply.end(JSON.stringify(isEvent ? { Entries: [{ EventId: 'e' }] } : { Successful }));
    });
    const entry = { pk: 'ACCOUNT#1#FEED#i', sk: '000000000000005', kind: 'merge', merge_id: 'm', incident_id: 'i' };
    const NewImage = marshall({ ...entry, by: 'k', request_id: 'r', sequence: 5, at_ms: 5, large: true });
    const lists = { alert_ids: { B: '' }, other_ids: { B: '' } };
    const record = { eventName: 'INSERT', dynamodb: { SequenceNumber: '7', NewImage: { ...NewImage, ...lists } } };
    const relay = async (Record: object) => {
      const credentials = { AWS_ACCESS_KEY_ID: 'AKIDOFTHEFUNCTION', AWS_SECRET_ACCESS_KEY: 'secret' };
      return (await start('relay', { Records: [Record] }, { ...credentials, AWS_ENDPOINT_URL })).answer;
    };
    expect(await relay(record)).toEqual({ batchItemFailures: [] });
    const [body, key] = sent.splice(0).sort((a, b) => b.length - a.length);
    expect(key).toBe(JSON.stringify({ pk: entry.pk, sk: entry.sk }));
    const message = { eventSource: 'aws:sqs', messageId: 'm', body };
    expect(await relay(message)).toEqual({ batchItemFailures: [{ itemIdentifier: 'm' }] });
    isUp = true;
    expect(await relay(message)).toEqual({ batchItemFailures: [] });
    expect(JSON.parse(sent[1] ?? '')).toMatchObject({ sequence: 5, complete: false });
  });

  it('logs the source line of an unforeseen error', async () => {
    const DYNAMODB_ENDPOINT = await serve((_request, reply) => {
      reply.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      reply.end('{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}');
    });
    const { answer, stdout } = await start('delete-work-item', apiEvent, { DYNAMODB_ENDPOINT });
    expect(answer.statusCode).toBe(500);
    const line = stdout.split('\n').find((text) => text.includes('call failed'));
    expect(JSON.parse(line ?? '{}').error_stack.join('\n')).toMatch(/\(lib\/table\/read\.ts:\d+:\d+/);
  });

  it('signs with the credentials of the environment', async () => {
    let headers: IncomingHttpHeaders = {};
    const AWS_ENDPOINT_URL_DYNAMODB = await serve((request, reply) => {
      headers = request.headers;
      reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}');
    });
    const { answer } = await start('delete-work-item', apiEvent, {
      DYNAMODB_ENDPOINT: '',
      AWS_ENDPOINT_URL_DYNAMODB,
      AWS_ACCESS_KEY_ID: 'AKIDOFTHEFUNCTION',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token-of-the-function',
    });
    expect(answer.statusCode).toBe(401); // the key is not there
    expect(headers.authorization).toContain('AKIDOFTHEFUNCTION');
    expect(headers['x-amz-security-token']).toBe('token-of-the-function');
  });

  it.each(Object.keys(GRANTS))('%s holds no development dependency and is no larger than its maximum', (name) => {
    const { path } = deployed(name);
    const files = readdirSync(path).filter((file) => file !== 'index.mjs.LEGAL.txt');
    expect(files.sort()).toEqual(['index.mjs', 'index.mjs.map']);
    expect(statSync(join(path, 'index.mjs')).size).toBeLessThanOrEqual((MAX_KILOBYTES[name] ?? 0) * 1_000);
    const { sources } = JSON.parse(readFileSync(join(path, 'index.mjs.map'), 'utf8')) as { sources: string[] };
    const packages = new Set(sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]));
    expect([...packages].filter((name) => name !== undefined && devDependencies.has(name))).toEqual([]);
  });
});

describe('what the bundles leave out (infra/left-out.ts)', () => {
  /** A bundle of a function that leaves out these modules alone. */
  async function bundleWithout(...modules: string[]) {
    const outfile = join(folder, `without-${modules.join('-').replaceAll(/\W/g, '_')}.mjs`);
    const entry = fileURLToPath(new URL('../../functions/delete-work-item.ts', import.meta.url));
    const options = { bundle: true, minify: true, format: 'esm', platform: 'node', target: 'node24' } as const;
    const mainFields = ['module', 'main'];
    await build({ entryPoints: [entry], outfile, ...options, mainFields, alias: aliases(modules) });
    return { outfile, kilobytes: statSync(outfile).size / 1_000 };
  }
  /** Modules of Node that a bundle loads. */
  async function loadedBy(file: string): Promise<string> {
    const script = `await import(${JSON.stringify(file)}); process.stdout.write(process.moduleLoadList.join());`;
    const env = { TABLE_NAME: 't', AWS_REGION: 'eu-west-1', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };
    return (await runFile(process.execPath, ['--input-type=module', '-e', script], { cwd: tmpdir(), env })).stdout;
  }

  // If one of these fails with a new release of the SDK, of esbuild or of Node, remove its module from the list.
  it('the other sources of credentials still take 100 KB', async () => {
    const [whole, without] = await Promise.all([bundleWithout(), bundleWithout(CREDENTIALS)]);
    expect(whole.kilobytes - without.kilobytes).toBeGreaterThan(100);
  });

  it('node:http still loads undici, unless it is left out', async () => {
    const [whole, without] = await Promise.all([bundleWithout(CREDENTIALS), bundleWithout(CREDENTIALS, HTTP)]);
    expect(await loadedBy(whole.outfile)).toContain('undici');
    expect(await loadedBy(without.outfile)).not.toContain('undici');
  });
});
