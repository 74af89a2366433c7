/** A table with a failing part: a proxy that answers some of the functions' DynamoDB calls with an error. */
import type { ServerResponse } from 'node:http';
import { parseKey, type RowKind } from '../../lib/dynamodb/keys.ts';
import { startDynamoDbProxy } from './dynamodb-proxy.ts';

/** What can fail, and what callers see then. */
export const FAILURES = {
  'live-status': 'fleet pages are built from the inventory, with `partial` and `error_code`',
  inventory: 'browsing the fleet answers 503',
  table: 'every call with an app_key answers 503',
} as const;

export type Failure = keyof typeof FAILURES;

export const isFailure = (name: string): name is Failure => Object.hasOwn(FAILURES, name);

const ROWS: Readonly<Record<Exclude<Failure, 'table'>, RowKind>> = { 'live-status': 'hostStatus', inventory: 'host' };

/** Whether a call is to fail: by the kinds of the rows whose keys are in its body. */
function fails(failures: readonly Failure[], body: string): boolean {
  const kinds = new Set<RowKind | undefined>();
  JSON.parse(body, (_name, value) => {
    if (typeof value === 'string') kinds.add(parseKey({ pk: value, sk: '' })?.kind);
    return value;
  });
  return failures.some((failure) => failure === 'table' || kinds.has(ROWS[failure]));
}

/** DynamoDB's answer to an internal error. */
function refuse(reply: ServerResponse): void {
  const error = { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: 'npm start -- --fail' };
  reply.writeHead(500, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(error));
}

/**
 * Starts the proxy on a free port.
 * @param target endpoint of a DynamoDB-compatible server
 */
export const startFailingTable = (target: string, failures: readonly Failure[]) =>
  startDynamoDbProxy(target, async ({ body }, reply, send) => {
    if (fails(failures, body.toString())) return refuse(reply);
    const answer = await send();
    reply.writeHead(answer.status, answer.headers).end(answer.body);
  });
