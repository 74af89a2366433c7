/** What the code under test is given: production's parts, on a table, with a clock and ids that are the same in each run. */
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

/** Production's parts on a table, with a clock and ids that are the same in each run. */
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

/** A validated call of an operation, as the chain before it hands it over. */
export function callOf<Body>(body: Body, accountId: Int64, idempotencyKey?: string): Call<Body> {
  const caller = { accountId, appKeyId: 'key', permissions: [], cursorSecret: new Uint8Array() };
  return { body, caller, requestId: 'request', idempotencyKey, signal: AbortSignal.timeout(TIME_LIMITS.callMs) };
}

/** Unix milliseconds. */
export const START_MS = 1_800_000_000_000;

export interface OperationLimits {
  /** A write that is sent again after its reply was lost is done again, as an import may be: others can come in between. */
  readonly repeats?: boolean;
  /** More calls to the table, and some for each fault, are a failure: it loses to others again and again. */
  readonly mostCalls?: number;
}

/** A call of an operation, as its caller sees it. */
export interface Operation extends OperationLimits {
  readonly name: string;
  /** Distinguishes it from others of its name. */
  readonly id: string;
  /** Calls to the table. */
  readonly calls: number;
  /** Nobody knows whether it was done, or cares. */
  readonly optional?: boolean;
  /** Ids of operations that had ended when its first call was taken; undefined: none was. */
  readonly after?: readonly string[];
  readonly ended?: true;
  readonly answer?: unknown;
  /** In place of an answer. */
  readonly error?: unknown;
}

export interface CallOptions extends OperationLimits {
  /** No delivery decides what its process does after it. */
  forgets?: boolean;
}

/** What runs in one process knows of its surroundings. */
export interface Surroundings {
  readonly deps: Deps;
  /** Calls an operation; what becomes of it is kept by this name. */
  call<Answer>(name: string, act: () => Promise<Answer>, options?: CallOptions): Promise<Answer>;
  /** Lets others come in between, and time pass. */
  pause(ms?: number): Promise<void>;
}

/** @throws what fails the process; of a message: it comes again */
export type Script = (surroundings: Surroundings) => Promise<unknown>;
