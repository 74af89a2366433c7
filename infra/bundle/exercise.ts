/**
 * Runs a function's script through an initialization and a call, on a DynamoDB that answers all calls alike, and stores what V8 has
 * compiled: `node infra/bundle/exercise.ts NAME SCRIPT CACHE`. In a process of its own, since a cache holds V8's flags. Prints what
 * V8 has compiled of {@link PROBED}, in base64.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { marshall } from '@aws-sdk/util-dynamodb';
import { operations } from '../../lib/api/operations.ts';
import type { AppKeyRow } from '../../lib/auth/rows.ts';
import { DOCUMENTATION } from '../generate/examples.ts';
import { PROBED } from './compile-cache.ts';

const [name = '', file = '', cache = ''] = process.argv.slice(2);

const key: AppKeyRow = {
  account_id: 1,
  permissions: operations.flatMap((one) => ('permission' in one ? [one.permission] : [])),
  cursor_secret: new Uint8Array(32),
  gateway_key: 'key',
};
const REPLIES: Readonly<Record<string, object>> = {
  GetItem: { Item: marshall(key) },
  UpdateItem: { Attributes: marshall({ total: 1 }) },
};
const server = createServer((request, response) => {
  const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(REPLIES[operation] ?? {}));
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');

Object.assign(process.env, {
  TABLE_NAME: 'table',
  SHARED_GATEWAY_KEY: 'shared',
  DYNAMODB_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
});

const operation = operations.find((one) => one.name === name);
const event = {
  httpMethod: 'POST',
  path: operation?.path,
  resource: operation?.path,
  headers: { 'Content-Type': 'application/json' },
  queryStringParameters: { app_key: 'key' },
  requestContext: { requestId: 'request' },
  methodArn: 'arn:aws:execute-api:region:account:api/prod/POST/path',
  body: JSON.stringify(operation && DOCUMENTATION[operation.name].request),
  Records: [],
};

const script = new Script(readFileSync(file, 'latin1'), { filename: file });
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;
const { handler } = await script.runInThisContext()(createRequire(import.meta.url), pathToFileURL(file).href);
const answer = await handler(event, { awsRequestId: 'request', getRemainingTimeInMillis: () => 29_000 });
if (answer?.statusCode >= 500) throw new Error(`${name} answers ${answer.statusCode}: ${answer.body}`);
writeFileSync(cache, script.createCachedData());
print(new Script(PROBED).createCachedData().toString('base64'), () => process.exit());
