/** The dependencies of the code under test: those of production, on a table double, with a clock and ids that repeat in each run. */
import nodeCrypto from 'node:crypto';
import type { Table } from '../../../lib/dynamodb/client.ts';
import type { Call } from '../../../lib/http/operation-handler.ts';
import type { Deps } from '../../../lib/shared/deps.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { readSettings } from '../../../lib/shared/settings.ts';
import { TIME_LIMITS } from '../../../lib/shared/time-limits.ts';
import { TABLE_NAME } from './double-client.ts';

/** The n-th ObjectID. */
export const id = (n: number) => n.toString(16).padStart(24, '0');

const settings = readSettings({ TABLE_NAME });
export const silent = () => undefined;

/** The dependencies of production, on a table double, with a clock and ids that repeat in each run. */
export function depsOver(
  table: Table,
  { now = () => START_MS, newId = () => nodeCrypto.randomUUID() }: Partial<Deps> = {},
): Deps {
  const log = { info: silent, warn: silent, error: silent };
  return {
    table,
    now,
    newId,
    log,
    metrics: { call: silent, event: silent, records: silent },
    settings,
    timeLimits: TIME_LIMITS,
  };
}

/** A validated call of an operation, as the middleware passes it on. */
export function callOf<Body>(body: Body, accountId: Int64, idempotencyKey?: string): Call<Body> {
  const caller = { accountId, appKeyId: 'key', permissions: [], cursorSecret: new Uint8Array() };
  return { body, caller, requestId: 'request', idempotencyKey, signal: AbortSignal.timeout(TIME_LIMITS.callMs) };
}

/** Unix milliseconds. */
export const START_MS = 1_800_000_000_000;

export interface OperationLimits {
  /** A write that is sent again after a lost reply is done twice, as an import may be: others can write in between. */
  readonly repeats?: boolean;
  /** More calls to the table, plus some for each fault, are a failure: it loses to others again and again. */
  readonly mostCalls?: number;
}

/** A call of an operation, as its caller sees it. */
export interface Operation extends OperationLimits {
  readonly name: string;
  /** Distinguishes it from other calls of that name. */
  readonly id: string;
  /** Calls to the table. */
  readonly calls: number;
  /** Its outcome is unknown and does not matter. */
  readonly optional?: boolean;
  /** Ids of the operations that had ended before its first call was executed; undefined: none. */
  readonly after?: readonly string[];
  readonly ended?: true;
  readonly answer?: unknown;
  /** In place of an answer. */
  readonly error?: unknown;
}

export interface CallOptions extends OperationLimits {
  /** What its process does afterwards depends on no earlier delivery. */
  forgets?: boolean;
}

/** What code in a process can use of the simulation. */
export interface Surroundings {
  readonly deps: Deps;
  /** Calls an operation and records its outcome under this name. */
  call<Answer>(name: string, act: () => Promise<Answer>, options?: CallOptions): Promise<Answer>;
  /** Lets other processes run, and time pass. */
  pause(ms?: number): Promise<void>;
}

/** @throws an error that fails the process; a message is then delivered again */
export type Script = (surroundings: Surroundings) => Promise<unknown>;
