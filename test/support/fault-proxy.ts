/** A proxy between the SDK and DynamoDB Local that plants faults in calls, over real sockets and HTTP. */
import type { ServerResponse } from 'node:http';
import { jsonAnswer, startDynamoDbProxy } from '../../packages/local/dynamodb-proxy.ts';
import {
  CONFLICT,
  cancelled,
  conflict,
  invalid,
  NO_REASON,
  type Reason,
  Refusal,
  THROTTLED,
  throttled,
} from '../limits-proxy/limit-errors.ts';

/**
 * What happens to a call on the wire:
 * - `refuse`: the connection ends before DynamoDB sees it
 * - `hang`: DynamoDB never sees it, and no reply comes
 * - `error-before`: 500, and DynamoDB has not applied it
 * - `error-after`: 500, though DynamoDB has applied it
 * - `hang-after`: DynamoDB applies it, and no reply comes
 * - `drop`: DynamoDB applies it, and the connection ends without a reply
 * - `cut`: DynamoDB applies it, and half of the reply comes
 * - `throttle`, `conflict`, `invalid`: DynamoDB refuses it with that error; a transaction is cancelled with that reason
 */
export const FAULTS = [
  'refuse',
  'hang',
  'hang-after',
  'error-before',
  'error-after',
  'drop',
  'cut',
  'throttle',
  'conflict',
  'invalid',
] as const;
export type Fault = (typeof FAULTS)[number];

/** One call on the wire. Each attempt of the SDK is a call. */
interface ProxiedCall {
  /** Counts from 1 since the faults were planned. */
  readonly number: number;
  /** Of DynamoDB's API, such as `UpdateItem`. */
  readonly action: string;
  readonly body: string;
}

export type Plan = (call: ProxiedCall) => Fault | undefined;

const SERVER_ERROR = new Refusal('com.amazonaws.dynamodb.v20120810#InternalServerError');

export async function startFaultProxy(target: string) {
  const newPlan = (faultOf: Plan = () => undefined) => ({ faultOf, calls: [] as ProxiedCall[] });
  let current = newPlan();
  const hanging = new Set<ServerResponse>();

  const { endpoint, close } = await startDynamoDbProxy(target, async ({ action, body }, send, reply) => {
    const { calls, faultOf } = current;
    const call = { number: calls.length + 1, action, body: body.toString() };
    calls.push(call);
    const fault = faultOf(call);
    switch (fault) {
      case 'refuse':
        reply.destroy();
        return;
      case 'hang':
        hanging.add(reply);
        return;
      case 'error-before':
        return answerOf(500, SERVER_ERROR);
      case 'throttle':
        return refusalOf(call, THROTTLED, throttled());
      case 'conflict':
        return refusalOf(call, CONFLICT, conflict());
      case 'invalid':
        return answerOf(400, invalid());
    }
    const answer = await send();
    switch (fault) {
      case 'hang-after':
        hanging.add(reply);
        return;
      case 'error-after':
        return answerOf(500, SERVER_ERROR);
      case 'cut':
        reply.writeHead(answer.status, answer.headers);
        reply.write(answer.body.subarray(0, Math.floor(answer.body.length / 2)));
        setImmediate(() => reply.destroy());
        return;
      case 'drop':
        reply.destroy();
        return;
    }
    return answer;
  });
  return {
    endpoint,
    /** The calls since the faults were planned. */
    get calls(): readonly ProxiedCall[] {
      return current.calls;
    },
    /** Replaces the plan; without one there are no faults. Calls count from 1 again. */
    plan(plan?: Plan): void {
      for (const reply of hanging) reply.destroy();
      hanging.clear();
      current = newPlan(plan);
    },
    close,
  };
}

const answerOf = (status: number, { type, message, fields }: Refusal) =>
  jsonAnswer(status, { __type: type, message, ...fields });

/** The refusal of a call with this error; of a transaction, its cancellation with this reason for its first item. */
function refusalOf({ action, body }: ProxiedCall, reason: Reason, refusal: Refusal) {
  if (action !== 'TransactWriteItems') return answerOf(400, refusal);
  const { TransactItems } = JSON.parse(body) as { TransactItems: unknown[] };
  return answerOf(400, cancelled(TransactItems.map((_item, index) => (index === 0 ? reason : NO_REASON))));
}
