/** The functions' bundles, started as Lambda would. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { marshall } from '@aws-sdk/util-dynamodb';
import { App } from 'aws-cdk-lib';
import { beforeAll, expect, it, vi } from 'vitest';
import type { FunctionName } from '../../infra/grants.ts';
import { ServiceStack } from '../../infra/stack.ts';
import openapi from '../../openapi.json' with { type: 'json' };
import { functionsOf, type Resource, type Template } from '../../packages/local/template.ts';
import { serve } from '../support/serve.ts';

const runFile = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
let functions: Map<string, Resource>;
beforeAll(() => {
  // CDK starts esbuild by npx for each function, which takes longer than esbuild does.
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\n[ "$1" = --no-install ] && shift && exec "$@"\n', { mode: 0o755 });
  const binaries = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));
  vi.stubEnv('PATH', [folder, binaries, process.env.PATH].join(delimiter));
  const app = new App({ outdir: folder, analyticsReporting: false, builtinCloudFormationValidation: false });
  const stack = new ServiceStack(app, 'Bundled');
  functions = functionsOf(app.synth().getStackArtifact(stack.artifactId).template as Template);
});

const propertiesOf = (name: string) => functions.get(name)?.Properties;
const folderOf = (name: string) => join(folder, `asset.${propertiesOf(name).Code.S3Key.replace('.zip', '')}`);

/** Starts a bundle as Lambda would: Node alone, the handler by its name, the template's environment; and calls it. */
async function start(name: string, event: object, more: Record<string, string> = {}) {
  const [file, exported] = propertiesOf(name).Handler.split('.');
  const script = `
    const { ${exported} } = await import(${JSON.stringify(join(folderOf(name), `${file}.mjs`))});
    const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 29000 };
    const answer = await ${exported}(${JSON.stringify(event)}, context).catch((error) => ({ thrown: error.name }));
    if (process.moduleLoadList.join().includes('undici')) throw new Error('a cold start loads undici');
    process.stdout.write('\\nANSWER' + JSON.stringify(answer ?? null));`;
  const variables = Object.entries(propertiesOf(name).Environment.Variables).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : 'a-table',
  ]);
  const env = {
    ...Object.fromEntries(variables),
    // The SDK looks for the home folder, and fails without HOME where the user id has no name.
    ...{ HOME: tmpdir(), AWS_REGION: 'eu-west-1', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
    ...{ AWS_ACCESS_KEY_ID: 'AKIDOFTHEFUNCTION', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token', ...more },
  };
  const { stdout } = await runFile(process.execPath, ['--input-type=module', '-e', script], { cwd: tmpdir(), env });
  return { answer: JSON.parse(stdout.slice(stdout.indexOf('ANSWER') + 'ANSWER'.length)), stdout };
}

const call = {
  httpMethod: 'POST',
  headers: {},
  queryStringParameters: { app_key: 'the-secret-key' },
  requestContext: { requestId: 'request-1' },
  methodArn: 'arn:a/prod/POST/alert/merge',
  body: null,
};

/** Kilobytes that bundles had when they were last measured, rounded up. The smallest operation shows what all of them load. */
const SIZES: Partial<Record<FunctionName, number>> = {
  'delete-work-item': 297,
  'send-records': 386,
  'send-notification': 336,
  'finish-merges': 238,
  'ingest-records': 354,
  relay: 281,
  'usage-key-authorizer': 230,
  'fallback-route': 50,
  'openapi-document': 2 + Math.ceil(JSON.stringify(openapi).length / 1_000),
};
/** Of the other operations. */
const USUAL_SIZE = 315;
/** A bundle may grow by a twentieth, for the paths, messages and refusals of new operations, which many bundles hold. A new package needs more. */
const ROOM = 1.05;

it('no bundle has grown by more than a twentieth, or compiles schemas', () => {
  for (const name of functions.keys()) {
    const kilobytes = SIZES[name as FunctionName] ?? USUAL_SIZE;
    const path = folderOf(name);
    const files = readdirSync(path).filter((file) => file !== 'index.mjs.LEGAL.txt');
    expect(files.sort()).toEqual(['index.mjs', 'index.mjs.map']);
    expect.soft(statSync(join(path, 'index.mjs')).size, name).toBeLessThanOrEqual(kilobytes * 1_000 * ROOM);
    const map = JSON.parse(readFileSync(join(path, 'index.mjs.map'), 'utf8'));
    expect(map).not.toHaveProperty('sourcesContent');
    // To compile a schema takes a tenth of a second of a cold start: `npm run generate` does it.
    expect(map.sources.filter((source: string) => source.includes('node_modules/ajv/'))).toEqual([]);
  }
});

/** Those with packages or variables that others lack; the contract calls the other functions. */
it.each<[name: string, event: object, answer: object]>([
  ['send-notification', call, { statusCode: 503, body: expect.stringMatching(/"request-1".*"ServiceUnavailable"/) }],
  ['send-records', call, { statusCode: 503 }],
  ['ingest-records', { Records: [] }, { batchItemFailures: [] }],
  ['usage-key-authorizer', call, { thrown: 'Error' }],
])('%s starts, and answers while DynamoDB is away', async (name, event, expected) => {
  const { answer, stdout } = await start(name, event);
  expect(answer).toMatchObject(expected);
  expect(stdout).not.toContain('the-secret-key');
});

it('a call is signed with the credentials of the environment, and the source line of an unforeseen error is logged', async () => {
  let headers: IncomingHttpHeaders = {};
  const AWS_ENDPOINT_URL_DYNAMODB = await serve((request, reply) => {
    headers = request.headers;
    reply.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    reply.end('{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}');
  });
  const { answer, stdout } = await start('delete-work-item', call, {
    DYNAMODB_ENDPOINT: '',
    AWS_ENDPOINT_URL_DYNAMODB,
  });
  expect(answer.statusCode).toBe(500);
  expect(headers.authorization).toContain('AKIDOFTHEFUNCTION');
  expect(headers['x-amz-security-token']).toBe('token');
  const line = stdout.split('\n').find((printed) => printed.includes('call failed'));
  expect(JSON.parse(line ?? '{}').error_stack.join('\n')).toMatch(/\(lib\/table\/read\.ts:\d+:\d+/);
});

it('relay sends a merge to the queues, and then publishes its event', async () => {
  const sent: [target: unknown, text: string][] = [];
  const groups: unknown[] = [];
  const AWS_ENDPOINT_URL = await serve(async (request, reply) => {
    expect(request.headers.authorization).toContain('AKIDOFTHEFUNCTION');
    const { Entries } = JSON.parse(await text(request)) as { Entries: Record<string, string>[] };
    const target = request.headers['x-amz-target'];
    if (Entries[0]?.MessageBody !== undefined) groups.push(...Entries.map(({ MessageGroupId }) => MessageGroupId));
    sent.push(...Entries.map(({ MessageBody, Detail }): [unknown, string] => [target, MessageBody ?? Detail ?? '']));
    const Successful = Entries.map(({ Id, MessageBody = '' }) => ({ Id, MD5OfMessageBody: hash('md5', MessageBody) }));
    reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    reply.end(JSON.stringify({ Entries: [{ EventId: 'e' }], Successful }));
  });
  const entry = { pk: 'ACCOUNT#1#HISTORY#i', sk: '000000000000005', kind: 'merge', merge_id: 'm', incident_id: 'i' };
  const NewImage = marshall({ ...entry, by: 'k', request_id: 'r', sequence: 5, at_ms: 5, large: true });
  const lists = { alert_ids: { B: '' }, other_ids: { B: '' } };
  const record = { eventName: 'INSERT', dynamodb: { SequenceNumber: '7', NewImage: { ...NewImage, ...lists } } };
  const relay = async (Record: object) => (await start('relay', { Records: [Record] }, { AWS_ENDPOINT_URL })).answer;
  expect(await relay(record)).toEqual({ batchItemFailures: [] });
  const [[, body] = [], [, key] = []] = sent.sort(([, a], [, b]) => b.length - a.length);
  expect(key).toBe(JSON.stringify({ pk: entry.pk, sk: entry.sk }));
  // Of a fair queue: one account's backlog does not hold up the others.
  expect(groups).toEqual(['1', '1']);
  expect(await relay({ eventSource: 'aws:sqs', messageId: 'm', body })).toEqual({ batchItemFailures: [] });
  expect(sent.at(-1)).toEqual(['AWSEvents.PutEvents', expect.stringContaining('"sequence":5')]);
});
