/** What the code under test gets from outside, and what a scenario's script can call. */
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
export const ignore = () => undefined;

/** Dependencies as in production, on a table double, with a clock and ids that are the same in each run. */
export const depsOver = (table: Table, changes: Partial<Deps> = {}): Deps => ({
  table,
  now: () => START_MS,
  newId: () => nodeCrypto.randomUUID(),
  log: { info: ignore, warn: ignore, error: ignore },
  metrics: { call: ignore, event: ignore, records: ignore },
  settings,
  timeLimits: TIME_LIMITS,
  ...changes,
});

/** A validated call of an operation, as the middleware passes it on. */
export function callOf<Body>(body: Body, accountId: Int64, idempotencyKey?: string): Call<Body> {
  const caller = { accountId, appKeyId: 'key', permissions: [], cursorSecret: new Uint8Array() };
  return { body, caller, requestId: 'request', idempotencyKey, signal: AbortSignal.timeout(TIME_LIMITS.callMs) };
}

/** Unix milliseconds. */
export const START_MS = 1_800_000_000_000;

/** What an invocation is allowed to do. */
export interface Allowances {
  /** Whether a write that is sent again after a lost reply may be applied twice, with other writes in between: as in an import. */
  readonly mayApplyTwice?: boolean | undefined;
  /** Maximum calls to the table without faults. More count as a failure: the operation would retry without end. */
  readonly maxCalls?: number | undefined;
}

/** One execution of an operation, as its caller sees it. */
export interface Invocation extends Allowances {
  /** Of the operation. */
  readonly name: string;
  /** Distinguishes it from other invocations of the operation. */
  readonly id: string;
  /** Number of calls to the table. */
  readonly calls: number;
  /** Whether it may have happened or not: a run is correct in either case. */
  readonly optional?: boolean;
  /** Ids of the invocations that had ended when its first call was executed; absent: none of its calls was. */
  readonly after?: readonly string[];
  readonly ended?: true;
  readonly answer?: unknown;
  /** In place of an answer. */
  readonly error?: unknown;
}

/** What a script can use of the simulation. */
export interface Environment {
  readonly deps: Deps;
  /** Invokes an operation and records its outcome under this name. */
  invoke<Answer>(name: string, operation: () => Promise<Answer>, allowances?: Allowances): Promise<Answer>;
  /** Lets other processes run, and time pass. */
  pause(ms: number): Promise<void>;
}

/** The code of a process. @throws an error that fails the process, which may then be started again */
export type Script = (environment: Environment) => Promise<unknown>;
