/** The units that calls cost, and the units that partition keys are granted. */
import { createTokenBuckets } from '../../packages/local/token-buckets.ts';

/**
 * The limits that the proxy enforces. Source of the units: *DynamoDB Developer Guide*, "Best practices for designing and using partition keys
 * effectively".
 */
export interface Limits {
  /** Write units a second of one partition key. */
  readonly writeUnits: number;
  /** Read units a second of one partition key. */
  readonly readUnits: number;
  /** Minimum time of a call in milliseconds: the local server is nearer than DynamoDB. */
  readonly callMs: number;
  /** Minimum time of a writing transaction, during which other writes to its rows conflict. */
  readonly transactionMs: number;
}

export const AWS_LIMITS: Limits = { writeUnits: 1_000, readUnits: 3_000, callMs: 0, transactionMs: 0 };

/** Source of the units: Developer Guide, "DynamoDB read and write operations". A row that does not exist counts as one unit. */
export const writeUnitsOf = (bytes: number) => Math.max(1, Math.ceil(bytes / 1024));
export const readUnitsOf = (bytes: number, consistent: boolean) =>
  Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);
/** Units of a transaction for each unit of the same write alone. Source: Developer Guide, "DynamoDB Transactions: How it works". */
export const TRANSACTION_FACTOR = 2;

export type Side = 'read' | 'write';

/** What a partition key has used since the proxy started, and how often it was throttled. */
export interface Usage {
  read: number;
  write: number;
  throttled: number;
}

const MAX_PARTITIONS = 100_000;

/**
 * Two token buckets for each partition key. A bucket holds the units of one second: AWS keeps up to 300 seconds of unused units, and does not
 * promise it (Developer Guide, "Burst and adaptive capacity").
 */
export function createPartitions({ readUnits, writeUnits }: Limits, now: () => number) {
  const bucketOf = createTokenBuckets(MAX_PARTITIONS, now);
  const usages = new Map<string, Usage>();
  const throttles = { read: { rate: readUnits, burst: readUnits }, write: { rate: writeUnits, burst: writeUnits } };

  function usageOf(partition: string): Usage {
    const usage = usages.get(partition) ?? { read: 0, write: 0, throttled: 0 };
    usages.set(partition, usage);
    return usage;
  }

  /** Takes units without checking that they are available, for example since they are used already; a negative number returns units. */
  function charge(partition: string, side: Side, units: number): void {
    bucketOf(`${side} ${partition}`, throttles[side]).tokens -= units;
    usageOf(partition)[side] += units;
  }

  /**
   * Takes units if they are available. A call that needs more than a full bucket is granted when the bucket is full, which then goes negative:
   * that AWS does so is not confirmed.
   * @returns whether the units were taken
   */
  function take(partition: string, side: Side, units: number): boolean {
    const { tokens } = bucketOf(`${side} ${partition}`, throttles[side]);
    const granted = tokens >= Math.min(units, throttles[side].burst);
    if (granted) charge(partition, side, units);
    else usageOf(partition).throttled += 1;
    return granted;
  }

  /** `usages` by partition: `<table> <value of the partition key>`. */
  return { usages, take, charge };
}

export type Partitions = ReturnType<typeof createPartitions>;
