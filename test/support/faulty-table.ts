/** A table whose calls meet planned faults: in DynamoDB Local behind the fault proxy, or in memory. */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import {
  DynamoDBServiceException,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { Table, TableOptions } from '../../lib/dynamodb/client.ts';
import { connectDouble } from '../../packages/proof/simulation/double-client.ts';
import type { Request } from '../../packages/proof/simulation/requests.ts';
import { TableDouble } from '../../packages/proof/simulation/table-double.ts';
import { dynamodbEndpoint } from './dynamodb-local.ts';
import { type Fault, startFaultProxy } from './fault-proxy.ts';
import { connectThrough } from './service.ts';
import { connectAfterStorm } from './storm.ts';

/** The fault of a call on the wire. Calls are numbered from 1 since the faults were planned; each attempt of the SDK is a call. */
export type NumberedPlan = (call: { readonly number: number }) => Fault | undefined;

export interface FaultyTable {
  /** The table without faults. */
  readonly table: Table;
  /** A client whose calls meet the faults: a new one, or the one that a storm went through. */
  connect(): Table;
  /** As `FaultProxy.plan`. */
  plan(plan?: NumberedPlan): void;
  /** Calls on the wire since the faults were planned. */
  calls(): number;
  /** Whether a kill has happened since the faults were planned. */
  killed(): boolean;
  /** Drops all rows of a table in memory, since each read scans them all; a table in DynamoDB Local keeps its rows. */
  clear(): void;
  close(): Promise<void>;
}

/** A table in DynamoDB Local. @param timeouts of its clients, in milliseconds; by default production's */
export async function faultyTable(
  table: Table,
  { afterStorm = false, timeouts }: { afterStorm?: boolean; timeouts?: TableOptions['timeouts'] } = {},
): Promise<FaultyTable> {
  const proxy = await startFaultProxy(dynamodbEndpoint());
  const stormed = afterStorm ? await connectAfterStorm(table, proxy, timeouts) : undefined;
  return {
    table,
    connect: () => stormed ?? connectThrough(table, proxy, timeouts),
    plan: proxy.plan,
    calls: () => proxy.calls.length,
    killed: proxy.killed,
    clear: () => undefined,
    close: proxy.close,
  };
}

const MAX_ATTEMPTS = 3;
const $metadata = { httpStatusCode: 400 };
const lost = () => Object.assign(new Error('a planted fault'), { name: 'TimeoutError', code: 'ECONNRESET' });

/** How DynamoDB refuses a call, and whether the SDK sends it again. */
function refusal(fault: 'throttle' | 'conflict', { name, input }: Request): { error: Error; again: boolean } {
  if (name !== 'TransactWriteCommand') {
    const Refusal = fault === 'throttle' ? ProvisionedThroughputExceededException : TransactionConflictException;
    return { error: new Refusal({ message: fault, $metadata }), again: true };
  }
  const Code = fault === 'throttle' ? 'ThrottlingError' : 'TransactionConflict';
  const CancellationReasons = (input.TransactItems as unknown[]).map((_item, index) => ({
    Code: index === 0 ? Code : 'None',
  }));
  return { error: new TransactionCanceledException({ message: Code, $metadata, CancellationReasons }), again: false };
}

/** A table in memory. Its clients send again what the SDK sends again, but without a pause. */
export function faultyDouble(): FaultyTable {
  let double = new TableDouble();
  let planned: NumberedPlan = () => undefined;
  let calls = 0;
  let dead = false;
  let era = 0;

  /** One attempt. */
  async function attempt(request: Request): Promise<{ reply?: unknown; error?: unknown; again?: boolean }> {
    calls += 1;
    const fault = dead ? 'refuse' : planned({ number: calls });
    const began = era;
    if (fault === 'kill' || fault === 'kill-before') dead = true;
    switch (fault) {
      case 'refuse':
      case 'hang':
      case 'error-before':
      case 'kill-before':
        return { error: lost(), again: true };
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
        // A process that dies before the reply arrives does not get it.
        await turn();
        const hasDied = dead && began === era;
        return fault !== undefined || hasDied ? { error: lost(), again: true } : outcome;
      }
    }
  }

  async function send({ name, input }: Request, signal: AbortSignal | undefined): Promise<unknown> {
    // The SDK gives all attempts of a transaction one token.
    const own = name === 'TransactWriteCommand' ? { ClientRequestToken: randomUUID(), ...input } : input;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const { reply, error, again } = await attempt({ name, input: own });
      if (error === undefined) return reply;
      if (!again || attempts === MAX_ATTEMPTS) throw error;
    }
  }

  return {
    table: connectDouble(async (request) => double.apply(request)),
    connect: () => connectDouble(send),
    plan(plan = () => undefined) {
      era += 1;
      calls = 0;
      planned = plan;
      dead = false;
    },
    calls: () => calls,
    killed: () => dead,
    clear() {
      double = new TableDouble();
    },
    close: async () => undefined,
  };
}
