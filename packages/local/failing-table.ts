/** A proxy that answers some of the functions' DynamoDB calls with an error. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseKey, type RowKind } from '../../lib/table/keys.ts';
import { jsonAnswer, startDynamoDbProxy } from './dynamodb-proxy.ts';

/** The failures that can be simulated, and what callers see then. */
export const FAILURES = {
  'live-status': 'fleet pages are built from the inventory, with `partial` and `error_code`',
  inventory: 'browsing the fleet answers 503',
  table: 'every call with an app_key answers 503',
  moves: 'large merges stay pending: none of their alerts moves',
  throttle: 'DynamoDB throttles every call of a function: answers are 503',
  slow: 'each call to DynamoDB takes 300 ms more',
} as const;

export type Failure = keyof typeof FAILURES;

export const isFailure = (name: string): name is Failure => Object.hasOwn(FAILURES, name);

/** The kind of row whose reads and writes fail. */
const FAILING_KIND: Readonly<Partial<Record<Failure, RowKind>>> = {
  'live-status': 'hostStatus',
  inventory: 'host',
};
/** Short enough that no function times out. */
const SLOW_MS = 300;

/** Whether a call fails, which depends on the kinds of the rows whose keys are in its body. */
function fails(failures: readonly Failure[], body: string): boolean {
  const kinds = new Set<RowKind | undefined>();
  JSON.parse(body, (_name, value) => {
    if (typeof value === 'string') kinds.add(parseKey({ pk: value, sk: '' })?.kind);
    return value;
  });
  return failures.some(
    (failure) =>
      failure === 'table' ||
      (FAILING_KIND[failure] !== undefined && kinds.has(FAILING_KIND[failure])) ||
      // A transaction that moves alerts of a large merge writes nothing else.
      (failure === 'moves' && body.includes('"TransactItems"') && kinds.has('alert') && !kinds.has('logHead')),
  );
}

/** The answer of DynamoDB when it fails (500) or throttles (400). */
const refusal = (status: 500 | 400, name: 'InternalServerError' | 'ThrottlingException') =>
  jsonAnswer(status, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'npm start -- --fail' });

/**
 * Starts the proxy on a free port.
 * @param target endpoint of a DynamoDB-compatible server
 */
export const startFailingTable = (target: string, failures: readonly Failure[]) =>
  startDynamoDbProxy(target, async ({ body }, send) => {
    if (failures.includes('slow')) await sleep(SLOW_MS);
    if (failures.includes('throttle')) return refusal(400, 'ThrottlingException');
    if (fails(failures, body.toString())) return refusal(500, 'InternalServerError');
    return send();
  });
