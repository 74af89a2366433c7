import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ALIASES } from '../../infra/bundle/aliases.ts';
import { ServiceFunction } from '../../infra/function.ts';
import { GRANTS } from '../../infra/grants.ts';
import { functionsOf, type Resource, type Template } from '../../infra/local/template.ts';
import { ServiceStack } from '../../infra/stack.ts';
import { createServiceTable } from '../../infra/table.ts';
import { browseFleet } from '../../lib/api/operations.ts';
import { parseJson } from '../../lib/json.ts';

const run = promisify(execFile);
const { devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
let folder: string;
let functions: Map<string, Resource & { id: string }>;
let cached: Map<string, Resource & { id: string }>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  // CDK starts esbuild by npx for each function, which takes longer than esbuild does.
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\n[ "$1" = --no-install ] && shift && exec "$@"\n', { mode: 0o755 });
  vi.stubEnv(
    'PATH',
    [folder, fileURLToPath(new URL('../../node_modules/.bin', import.meta.url)), process.env.PATH].join(delimiter),
  );
  // Not what bundles are about, and most of the time: `npm run synth` has CloudFormation's rules.
  const app = new App({ outdir: folder, analyticsReporting: false, builtinCloudFormationValidation: false });
  const stack = new ServiceStack(app, 'Bundled');
  const withCache = new Stack(app, 'Cached');
  const table = createServiceTable(withCache, undefined);
  const props = { description: '', table, timeout: Duration.seconds(1), logRetention: RetentionDays.ONE_DAY };
  for (const name of [CACHED, 'finish-merges'] as const)
    new ServiceFunction(withCache, name, { ...props, name, compileCache: true });
  const assembly = app.synth();
  const of = ({ artifactId }: Stack) => functionsOf(assembly.getStackArtifact(artifactId).template as Template);
  functions = of(stack);
  cached = of(withCache);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The folder of a function's code, and its environment with references filled in. */
function deployed(name: string, all = functions) {
  const { Properties } = all.get(name) as Resource;
  const hash = String(Properties.Code.S3Key).replace('.zip', '');
  const variables = Object.entries(Properties.Environment?.Variables ?? {});
  const env = Object.fromEntries(variables.map(([key, value]) => [key, typeof value === 'string' ? value : 'a-table']));
  return { path: join(folder, `asset.${hash}`), env, handler: String(Properties.Handler) };
}

/** A server on this machine that answers in place of DynamoDB. */
async function serving(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Starts a bundle as Lambda would: Node alone, the handler by its name, the template's environment; and calls it. */
async function start(
  name: string,
  event: object,
  more: Record<string, string> = {},
  { path, env, handler } = deployed(name),
  flags: readonly string[] = [],
) {
  const [file, exported] = handler.split('.');
  const script = `
    const { ${exported} } = await import(${JSON.stringify(join(path, `${file}.mjs`))});
    const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 29000 };
    const answer = await ${exported}(${JSON.stringify(event)}, context).catch((error) => ({ thrown: error.name }));
    process.stdout.write('\\nANSWER' + JSON.stringify(answer ?? null));`;
  const { stdout } = await run(process.execPath, [...flags, '--input-type=module', '-e', script], {
    cwd: tmpdir(),
    env: { ...env, AWS_REGION: 'eu-west-1', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9', ...more },
  });
  return { answer: JSON.parse(stdout.slice(stdout.indexOf('ANSWER') + 'ANSWER'.length)), stdout };
}

const call = {
  resource: browseFleet.path,
  path: browseFleet.path,
  httpMethod: 'POST',
  headers: {},
  queryStringParameters: { app_key: 'the-secret-key' },
  requestContext: { requestId: 'request-1' },
  body: null,
};

/** What takes the place of parts of libraries in a bundle. */
const OF_THE_SDK = ['credential-provider-node', 'node-builtins', 'node-http', 'unused'];
const REPLACED: Readonly<Record<string, string[]>> = { 'fallback-route': [], 'openapi-document': ['node-builtins'] };

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

  it('fallback-route answers 404 and 405', async () => {
    expect((await start('fallback-route', { ...call, httpMethod: 'GET' })).answer.statusCode).toBe(405);
    expect((await start('fallback-route', { ...call, resource: '/{proxy+}' })).answer.statusCode).toBe(404);
  });

  it('usage-key-authorizer fails while DynamoDB is away, and prints no key', async () => {
    const { answer, stdout } = await start('usage-key-authorizer', {
      ...call,
      methodArn: 'arn:a/prod/POST/alert/merge',
    });
    expect(answer).toEqual({ thrown: 'Error' });
    expect(stdout).toContain('app key lookup failed');
    expect(stdout).not.toContain('the-secret-key');
  });

  it('openapi-document serves openapi.json, and 304 to callers that have it', async () => {
    const { answer } = await start('openapi-document', { ...call, httpMethod: 'GET', path: '/openapi.json' });
    const own = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
    expect(parseJson(answer.body)).toEqual(parseJson(own));
    expect(answer.body).toContain('"maximum":9223372036854775806');
    // Pages of any site may show it.
    expect(answer.headers).toEqual({
      'Content-Type': 'application/json',
      'Cache-Control': 'public, max-age=300',
      ETag: expect.stringMatching(/^"[\w-]{22}"$/),
      'Access-Control-Allow-Origin': '*',
    });
    const again = await start('openapi-document', { ...call, headers: { 'if-none-match': answer.headers.ETag } });
    expect(again.answer).toMatchObject({ statusCode: 304, body: '' });
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

  it('logs where in the sources an unforeseen error was thrown', async () => {
    const { url, close } = await serving((_request, reply) => {
      reply.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      reply.end('{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}');
    });
    const { answer, stdout } = await start('delete-work-item', call, { DYNAMODB_ENDPOINT: url });
    close();
    expect(answer.statusCode).toBe(500);
    const line = stdout.split('\n').find((one) => one.includes('call failed'));
    expect(JSON.parse(line ?? '{}').error_stack.join('\n')).toMatch(/ lib\/table\/client\.ts:\d+:\d+/);
  });

  it('signs with the credentials of the environment, and asks for no others', async () => {
    let authorization = '';
    let token: unknown;
    const { url, close } = await serving((request, reply) => {
      authorization = String(request.headers.authorization);
      token = request.headers['x-amz-security-token'];
      reply.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}');
    });
    const { answer } = await start('delete-work-item', call, {
      DYNAMODB_ENDPOINT: '',
      AWS_ENDPOINT_URL_DYNAMODB: url,
      AWS_ACCESS_KEY_ID: 'AKIDOFTHEFUNCTION',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token-of-the-function',
    });
    close();
    expect(answer.statusCode).toBe(401); // the key is not there
    expect(authorization).toContain('AKIDOFTHEFUNCTION');
    expect(token).toBe('token-of-the-function');
  });

  it.each(Object.keys(GRANTS))('%s holds no development dependency and is no larger than it must be', (name) => {
    const { path } = deployed(name);
    const files = readdirSync(path).filter((file) => file !== 'index.mjs.LEGAL.txt');
    expect(files.sort()).toEqual(['index.mjs', 'index.mjs.map']);
    expect(statSync(join(path, 'index.mjs')).size).toBeLessThanOrEqual(name === 'fallback-route' ? 15_000 : 260_000);
    const { sources } = JSON.parse(readFileSync(join(path, 'index.mjs.map'), 'utf8')) as { sources: string[] };
    const replaced = sources.flatMap((source) => /infra\/bundle\/(.*)\.ts$/.exec(source)?.[1] ?? []);
    expect(replaced.sort()).toEqual(REPLACED[name] ?? OF_THE_SDK);
    const packages = new Set(sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]));
    expect([...packages].filter((name) => name !== undefined && name in devDependencies)).toEqual([]);
  });
});

const CACHED = 'delete-work-item';
const FILES = [
  'cached.mjs',
  'index.mjs',
  'index.mjs.map',
  'script.js',
  'script.js.map',
  'with-gc.cache',
  'without-gc.cache',
];

/** A byte in the middle of the file becomes another. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(file, bytes);
}

describe('a bundle with a compile cache', () => {
  /** Starts a copy of it. @returns what it answers, and whether it counts the cache as rejected */
  async function startCopy(change: (path: string) => void, flags: string[] = [], more: Record<string, string> = {}) {
    const own = deployed(CACHED, cached);
    const path = join(folder, 'copy');
    cpSync(own.path, path, { recursive: true });
    change(path);
    const files = readdirSync(path);
    const { answer, stdout } = await start(CACHED, call, more, { ...own, path }, flags);
    expect(readdirSync(path)).toEqual(files);
    rmSync(path, { recursive: true });
    const counted = stdout.split('\n').filter((line) => line.includes('"event":"compile_cache_rejected"'));
    return { answer, stdout, rejected: counted.length };
  }

  it('has it beside the bundle that runs without', () => {
    const { path, handler } = deployed(CACHED, cached);
    expect(handler).toBe('cached.handler');
    expect(readdirSync(path).filter((file) => file !== 'index.mjs.LEGAL.txt')).toEqual(FILES);
    const bundles = [path, deployed(CACHED).path].map((folder) => readFileSync(join(folder, 'index.mjs'), 'utf8'));
    expect(bundles[0]).toBe(bundles[1]);
  });

  it.each([[[]], [['--expose-gc']], [['--max-old-space-size=300', '--max-semi-space-size=8']]])(
    'runs from it with %j',
    async (flags) => {
      const { answer, rejected } = await startCopy(() => {}, flags);
      expect([answer.statusCode, rejected]).toEqual([503, 0]);
    },
  );

  it.each<[string, (path: string) => void, string[]?]>([
    ['V8 has other flags', () => {}, ['--stack-size=900']],
    ['the cache is missing', (path) => rmSync(join(path, 'without-gc.cache'))],
    ['the cache is empty', (path) => writeFileSync(join(path, 'without-gc.cache'), '')],
    ['the script is missing', (path) => rmSync(join(path, 'script.js'))],
    ['a byte of the cache is damaged', (path) => damage(join(path, 'without-gc.cache'))],
    ['a byte of the script is another', (path) => damage(join(path, 'script.js'))],
    [
      'the cache is cut short',
      (path) => {
        const file = join(path, 'without-gc.cache');
        writeFileSync(file, readFileSync(file).subarray(0, 100_000));
      },
    ],
    [
      'the cache is of another function',
      (path) => {
        const other = deployed('finish-merges', cached).path;
        cpSync(join(other, 'without-gc.cache'), join(path, 'without-gc.cache'));
      },
    ],
  ])('runs without it and counts that where %s', async (_what, change, flags) => {
    const { answer, rejected } = await startCopy(change, flags);
    expect([answer.statusCode, rejected]).toEqual([503, 1]);
  });

  it('logs where in the sources an unforeseen error was thrown', async () => {
    const { url, close } = await serving((_request, reply) => {
      reply.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      reply.end('{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}');
    });
    const { stdout, rejected } = await startCopy(() => {}, [], { DYNAMODB_ENDPOINT: url });
    close();
    expect(rejected).toBe(0);
    const line = stdout.split('\n').find((one) => one.includes('call failed'));
    expect(JSON.parse(line ?? '{}').error_stack.join('\n')).toMatch(/ lib\/table\/client\.ts:\d+:\d+/);
  });
});

/** What the sources of some packages import from a module. */
function importedFrom(module: string, packages: readonly string[]): Set<string> {
  const names = new Set<string>();
  const root = fileURLToPath(new URL('../../node_modules/', import.meta.url));
  for (const name of packages)
    for (const file of globSync(`${root}${name}/**/*.js`, {
      exclude: ['**/dist-cjs/**', '**/*.browser.js', '**/*.native.js'],
    })) {
      const source = readFileSync(file, 'utf8');
      const escaped = module.replace(/[/.]/g, '\\$&');
      const statics = source.matchAll(new RegExp(`import\\s*\\{([^}]*)\\}\\s*from\\s*["']${escaped}["']`, 'g'));
      const dynamics = source.matchAll(new RegExp(`const \\{([^}]*)\\} = await import\\(["']${escaped}["']\\)`, 'g'));
      for (const [, list = ''] of [...statics, ...dynamics])
        for (const one of list.split(',')) names.add(one.split(/ as |:/)[0]?.trim() ?? '');
      names.delete('');
      const whole = new RegExp(`(import \\* as|import \\w+ from|export \\*)[^;]*["']${escaped}["']`);
      if (whole.test(source)) names.add(`all of it, in ${file}`);
    }
  return names;
}

describe('what takes the place of parts of libraries (infra/bundle/aliases.ts)', () => {
  // An SDK that asks for more, or no longer for this, is to be looked at before it is deployed.
  it.each([
    ['@aws-sdk/credential-provider-node', ['@aws-sdk/client-dynamodb/dist-es'], ['defaultProvider']],
    ['@aws-sdk/endpoint-cache', ['@aws-sdk/middleware-endpoint-discovery'], ['EndpointCache']],
    ['@aws/lambda-invoke-store', ['@aws-sdk/core/dist-es', '@aws-sdk/client-dynamodb/dist-es'], ['InvokeStore']],
    [
      '@smithy/node-http-handler',
      ['@aws-sdk/core/dist-es', '@aws-sdk/client-dynamodb/dist-es', '@smithy/core/dist-es'],
      ['NodeHttpHandler', 'streamCollector'],
    ],
    ['@smithy/signature-v4', ['@aws-sdk/core/dist-es', '@aws-sdk/client-dynamodb/dist-es'], ['SignatureV4']],
    ['node:fs/promises', ['@aws-sdk/core/dist-es', '@smithy/core/dist-es/submodules/config'], ['readFile']],
    [
      '@smithy/core/event-streams',
      ['@aws-sdk/client-dynamodb/dist-es', '@aws-sdk/core/dist-es', '@smithy/core/dist-es/submodules/protocols'],
      ['EventStreamSerde', 'eventStreamSerdeProvider'],
    ],
    [
      'node:http',
      ['@middy/util', '@middy/core', '@smithy/core/dist-es/submodules/config'],
      ['STATUS_CODES', 'request'],
    ],
  ])('%s is asked for what is put in its place, and for nothing else', async (module, packages, names) => {
    expect([...importedFrom(module, packages)].sort()).toEqual(names);
    const replacement = ALIASES[module] as string;
    const exported = Object.keys(await import(replacement));
    for (const name of names) expect(exported).toContain(name);
  });
});
