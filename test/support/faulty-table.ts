/** A table in memory whose calls meet planned faults. */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  DynamoDBServiceException,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { Table } from '../../lib/dynamodb/client.ts';
import { connectDouble } from '../../packages/proof/simulation/double-client.ts';
import type { Request } from '../../packages/proof/simulation/requests.ts';
import { TableDouble } from '../../packages/proof/simulation/table-double.ts';
import type { Fault } from './fault-proxy.ts';

/** The fault of an attempt. Attempts are numbered from 1 since the faults were planned. */
export type NumberedPlan = (attempt: { readonly number: number }) => Fault | undefined;

export interface FaultyTable {
  /** The table without faults. */
  readonly table: Table;
  /** A new client, whose calls meet the faults. */
  connect(): Table;
  /** Replaces the plan; without one there are no faults. */
  plan(plan?: NumberedPlan): void;
}

const MAX_ATTEMPTS = 3;
const $metadata = { httpStatusCode: 400 };
const replyLost = () => Object.assign(new Error('a planted fault'), { name: 'TimeoutError', code: 'ECONNRESET' });

/** Throttling or a conflict as DynamoDB reports it, and whether the SDK repeats the call. */
function refusal(fault: 'throttle' | 'conflict', { name, input }: Request): { error: Error; isRepeated: boolean } {
  if (name !== 'TransactWriteCommand') {
    const Refusal = fault === 'throttle' ? ProvisionedThroughputExceededException : TransactionConflictException;
    return { error: new Refusal({ message: fault, $metadata }), isRepeated: true };
  }
  const Code = fault === 'throttle' ? 'ThrottlingError' : 'TransactionConflict';
  const CancellationReasons = (input.TransactItems as unknown[]).map((_item, index) => ({
    Code: index === 0 ? Code : 'None',
  }));
  const error = new TransactionCanceledException({ message: Code, $metadata, CancellationReasons });
  return { error, isRepeated: false };
}

/** A new table. Its clients retry the same errors as the SDK, but without a pause. */
export function newFaultyTable(): FaultyTable {
  const double = new TableDouble();
  const newPlan = (faultOf: NumberedPlan = () => undefined) => ({ faultOf, attempts: 0, isKilled: false });
  let current = newPlan();

  async function attempt(request: Request): Promise<{ reply?: unknown; error?: unknown; isRepeated?: boolean }> {
    const planned = current;
    planned.attempts += 1;
    const fault = planned.isKilled ? 'refuse' : planned.faultOf({ number: planned.attempts });
    if (fault === 'kill' || fault === 'kill-before') planned.isKilled = true;
    switch (fault) {
      case 'refuse':
      case 'hang':
      case 'error-before':
      case 'kill-before':
        return { error: replyLost(), isRepeated: true };
      case 'invalid':
        return { error: new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', $metadata }) };
      case 'throttle':
      case 'conflict':
        return refusal(fault, request);
      default: {
        let outcome: { reply?: unknown; error?: unknown };
        try {
          outcome = { reply: double.apply(request) };
        } catch (error) {
          outcome = { error };
        }
        // A process that is killed before the reply arrives does not get it.
        await nextTurn();
        return fault !== undefined || planned.isKilled ? { error: replyLost(), isRepeated: true } : outcome;
      }
    }
  }

  async function send({ name, input }: Request, signal: AbortSignal | undefined): Promise<unknown> {
    // The SDK gives all attempts of a transaction one token.
    const sent = name === 'TransactWriteCommand' ? { ClientRequestToken: randomUUID(), ...input } : input;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const { reply, error, isRepeated } = await attempt({ name, input: sent });
      if (error === undefined) return reply;
      if (!isRepeated || attempts === MAX_ATTEMPTS) throw error;
    }
  }

  return {
    table: connectDouble(async (request) => double.apply(request)),
    connect: () => connectDouble(send),
    plan(plan) {
      current = newPlan(plan);
    },
  };
}
