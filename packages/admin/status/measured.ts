/** Figures of a table's service: from CloudWatch for a stack, from the counters of `npm start` on a laptop. */

/** Minutes that figures cover. */
export const WINDOW_MINUTES = 60;

export interface OperationFigures {
  readonly operation: string;
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

/** The last attempt to finish a pending merge. */
export interface Attempt {
  readonly incident_id: string;
  readonly sequence: number;
  readonly error: string;
  readonly at_ms: number;
  /** Absent: unknown; a queue of AWS does not tell. */
  readonly next_ms?: number;
}

export interface Measured {
  readonly operations: readonly OperationFigures[];
  /** Averages of the calls, by DynamoDB's operation, and throttled reads and writes; absent: unknown. */
  readonly dynamodb?: { readonly latency_ms: Readonly<Record<string, number>>; readonly throttled: number };
  /** Raised alarms; absent: the target has no alarms. */
  readonly alarms?: readonly Alarm[];
  readonly attempts: readonly Attempt[];
  readonly dead_letters?: number;
}
