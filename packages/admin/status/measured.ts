/** Figures of the service: a deployed stack has them in CloudWatch, `npm start` counts them itself. */

import type { Int64 } from '../../../lib/shared/json.ts';

/** The last minutes that the figures cover. */
export const WINDOW_MINUTES = 60;

export interface OperationFigures {
  readonly operation: string;
  /** Without those that are `Unauthorized`, as the probes of the status are. */
  readonly calls: number;
  /** Answered with a status of 500 or above. */
  readonly failed: number;
  /** The 99th percentile; absent: there were no calls. */
  readonly p99_ms?: number;
}

export interface Alarm {
  readonly name: string;
  readonly since_ms: number;
  /** Its meaning, and the address of its runbook. */
  readonly what: string;
}

/** A key that was refused although the table has it: its sender is shut out. */
export interface RefusedKey {
  readonly account_id: Int64;
  readonly app_key_id: string;
  /** `expired`, `revoked`, or `suspended` if its account is. */
  readonly reason: string;
  readonly last_ms: number;
}

/** The last attempt to finish a pending merge. */
export interface Attempt {
  readonly incident_id: string;
  readonly sequence: number;
  readonly error: string;
  readonly at_ms: number;
  /** Time of the next attempt; absent: unknown, as SQS does not say. */
  readonly next_ms?: number;
}

export interface Measured {
  readonly operations: readonly OperationFigures[];
  /** Average latency of each DynamoDB operation, and the number of throttled reads and writes; absent: unknown. */
  readonly dynamodb?: { readonly latency_ms: Readonly<Record<string, number>>; readonly throttled: number };
  /** Raised alarms; absent: the target has no alarms. */
  readonly alarms?: readonly Alarm[];
  readonly attempts: readonly Attempt[];
  /** Absent: unknown. */
  readonly refused_keys?: readonly RefusedKey[];
  readonly dead_letters?: number;
}

/** The path at which `npm start` serves its counters, to this machine only. */
export const LOCAL_STATUS_PATH = '/local/status';

const TIMEOUT_MS = 3_000;

export async function measureLocal(url: string): Promise<Measured> {
  const response = await fetch(new URL(LOCAL_STATUS_PATH, url), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${LOCAL_STATUS_PATH} answers with status ${response.status}`);
  return (await response.json()) as Measured;
}
