/**
 * A shorter way from a command to its request, and back: the SDK's own is made for every service, protocol and
 * scheme of authentication, and takes more than half of a call's CPU. Retries, errors, clock skew and all that is
 * not a reading or a writing of items stay with the SDK. `test/unit/lean-path.test.ts` compares both.
 */
import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { getSmithyContext } from '@smithy/core/client';
import { HttpRequest, type HttpResponse } from '@smithy/core/protocols';
import { getSchemaSerdePlugin } from '@smithy/core/schema';

/** Done below in one place, or without a use: there is no logger, and DynamoDB calls no function that could call itself. */
const REPLACED = [
  'loggerMiddleware',
  'httpAuthSchemeMiddleware',
  'contentLengthMiddleware',
  'getUserAgentMiddleware',
  'hostHeaderMiddleware',
  'recursionDetectionMiddleware',
] as const;

/** Their input and output is JSON as it stands, but for binary values. */
const ON_ITEMS: ReadonlySet<unknown> = new Set([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'BatchGetItem',
  'BatchWriteItem',
  'TransactGetItems',
  'TransactWriteItems',
]);

interface Args {
  readonly input: object;
  readonly request?: unknown;
}
interface Result {
  readonly response: unknown;
  readonly output?: unknown;
}
type Next = (args: Args) => Promise<Result>;
/** What the SDK keeps of a call: where it goes, by the configuration, and a table's ARN in place of its name. */
interface Context {
  readonly endpointV2?: { readonly url: URL };
  readonly authSchemes?: readonly { readonly signingRegion?: string; readonly signingName?: string }[];
}
type Middleware = (next: Next, context: Context) => Next;

/** @throws when the SDK has other middlewares than those that this was written for */
export function shortenPath(client: DynamoDBClient): void {
  const { config, middlewareStack: stack } = client;
  for (const name of REPLACED) if (!stack.remove(name)) throw changed(`no ${name}`);
  const [scheme, ...others] = config.httpAuthSchemes;
  if (scheme?.schemeId !== 'aws.auth#sigv4' || others.length > 0) throw changed('other schemes of authentication');
  const sdk = middlewaresOf(config);
  let userAgent: string | undefined;
  let destination: Context | undefined;

  /** What the SDK's middleware for signatures looks for. */
  function chooseSigner(context: Context): void {
    const { signingRegion, signingName } = context.authSchemes?.[0] ?? {};
    const signingProperties = { config, context, signingRegion, signingName };
    const selectedHttpAuthScheme = { signer: scheme?.signer, httpAuthOption: { signingProperties } };
    Object.assign(getSmithyContext(context as Record<string, unknown>), { selectedHttpAuthScheme });
  }

  async function addHeaders({ headers, hostname, port, body }: HttpRequest): Promise<void> {
    userAgent ??= (await config.defaultUserAgentProvider()).map((parts) => parts.join('/')).join(' ');
    headers.host = port ? `${hostname}:${port}` : hostname;
    headers['content-length'] = String(Buffer.byteLength(body));
    headers['user-agent'] = userAgent;
  }

  const serialize: Middleware = (next, context) => {
    if (destination) Object.assign(context, destination);
    const send: Next = async (args) => {
      destination ??= { endpointV2: context.endpointV2, authSchemes: context.authSchemes } as Context;
      chooseSigner(context);
      await addHeaders(args.request as HttpRequest);
      return next(args);
    };
    const operation = operationOf(context);
    if (!ON_ITEMS.has(operation)) return sdk.serializerMiddleware(send, context);
    return (args) => send({ ...args, request: toRequest(operation, args.input, context) });
  };

  const deserialize: Middleware = (next, context) => async (args) => {
    const { response } = await next(args);
    const output = ON_ITEMS.has(operationOf(context)) ? toOutput(response as HttpResponse) : undefined;
    if (output) return { response, output };
    return sdk.deserializerMiddleware(async () => ({ response }), context)(args);
  };

  stack.add(serialize as never, { name: 'serializerMiddleware', step: 'serialize', override: true });
  stack.add(deserialize as never, { name: 'deserializerMiddleware', step: 'deserialize', override: true });
  /** Each command has a middleware that finds out the destination: it is not run once that is known. */
  const findingItOnce = (own: typeof stack): typeof stack => ({
    ...own,
    concat(others) {
      if (destination) others.remove('endpointV2Middleware');
      return findingItOnce(own.concat(others) as never) as never;
    },
  });
  client.middlewareStack = findingItOnce(stack);
}

const changed = (what: string) => new Error(`This release of the AWS SDK has ${what}: see lib/table/lean-path.ts.`);

const operationOf = (context: Context) => getSmithyContext(context as Record<string, unknown>).operation;

function middlewaresOf(config: DynamoDBClient['config']) {
  const found: Record<string, Middleware> = {};
  const add = (middleware: unknown, { name = '' }) => {
    found[name] = middleware as Middleware;
  };
  getSchemaSerdePlugin(config).applyToStack({ add } as never);
  const { serializerMiddleware, deserializerMiddleware } = found;
  if (!serializerMiddleware || !deserializerMiddleware) throw changed('no middlewares that serialize');
  return { serializerMiddleware, deserializerMiddleware };
}

function toRequest(operation: unknown, input: object, { endpointV2 }: Context): HttpRequest {
  return new HttpRequest({
    ...endpointOf(endpointV2?.url as URL),
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: JSON.stringify(operation === 'TransactWriteItems' ? withToken(input) : input, toJson),
  });
}

type Endpoint = Pick<HttpRequest, 'protocol' | 'hostname' | 'path'> & { port?: number };

/** By the URL that the SDK found, which it keeps. */
const endpoints = new WeakMap<URL, Endpoint>();

function endpointOf(url: URL): Endpoint {
  let endpoint = endpoints.get(url);
  if (!endpoint) {
    const { protocol, hostname, port, pathname } = url;
    const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
    endpoint = { protocol, hostname, path, ...(port && { port: Number(port) }) };
    endpoints.set(url, endpoint);
  }
  return endpoint;
}

/** With the token by which DynamoDB knows an attempt for a repeated one, which the SDK would add too. */
const withToken = ({ ClientRequestToken = randomUUID(), ...input }: { ClientRequestToken?: string }) => ({
  ...input,
  ClientRequestToken,
});

/** Binary values as text. They are asked for in their holder, since a `Buffer` has become an object by then. */
function toJson(this: Record<string, unknown>, key: string, value: unknown): unknown {
  if (typeof value !== 'object') return value;
  const given = this[key];
  if (!(given instanceof Uint8Array)) return value;
  return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString('base64');
}

/** @returns undefined for what is better left to the SDK: errors, binary values */
function toOutput({ statusCode, headers, body }: HttpResponse): object | undefined {
  if (statusCode >= 300 || !(body instanceof Uint8Array) || body.length === 0) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  // The quick test first: quotes, with which the other begins, are everywhere.
  if ((text.includes('B"') || text.includes('BS"')) && /"BS?"/.test(text)) return undefined;
  let output: Record<string, unknown>;
  try {
    output = JSON.parse(text);
  } catch {
    // Cut short: to the SDK a lost connection, which it tries again. The parser's error quotes the reply, so it is dropped.
    throw Object.assign(new Error('reply cut short'), { code: 'ECONNRESET' });
  }
  for (const name in output) if (output[name] === null) delete output[name];
  const $metadata = {
    httpStatusCode: statusCode,
    requestId: headers['x-amzn-requestid'],
    extendedRequestId: headers['x-amz-id-2'],
    cfId: headers['x-amz-cf-id'],
  };
  return Object.assign(output, { $metadata });
}
