/** Memory of the functions, and their shares of the reserved concurrency. Tools read it without the CDK. */
import { type ListedOperation, operations } from '../lib/operations/index.ts';
import type { FunctionName } from './grants.ts';

type PerFunction = Readonly<Partial<Record<FunctionName, number>>>;

/** The values of a field that some operations have. */
const ofOperations = (field: 'memoryMb' | 'concurrencyShare'): PerFunction =>
  Object.fromEntries(
    operations.flatMap((operation: ListedOperation) => {
      const { name, [field]: value } = operation;
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** 512 is a guess, not measured on AWS. */
const DEFAULT_MEMORY_MB = 512;
const MEMORY_MB: PerFunction = {
  'fallback-route': 256,
  'openapi-document': 256,
  // Work in bulk: a whole vCPU.
  'finish-merges': 1_769,
  'ingest-records': 1_769,
  'end-silent-alerts': 1_769,
  ...ofOperations('memoryMb'),
};

export const memoryMbOf = (name: FunctionName): number => MEMORY_MB[name] ?? DEFAULT_MEMORY_MB;

/**
 * Shares of the concurrent executions that the setting `reservedConcurrency` reserves. A share is both a guarantee and a limit: the
 * authorizer and the reads need the guarantee; merges, what is sent to the feed, and the routes without authorizer, need the limit. The other functions use the
 * AWS account's unreserved concurrency, which is at least 100. The shares add up to 1 and must not exceed it. `MIN_RESERVED` is 1 divided by
 * the smallest.
 */
const CONCURRENCY_SHARES: PerFunction = {
  'usage-key-authorizer': 0.3,
  'fallback-route': 0.05,
  'openapi-document': 0.05,
  ...ofOperations('concurrencyShare'),
};

/** If fewer executions were reserved, the smallest share would round to 0, and Lambda would refuse every call of that function. */
export const MIN_RESERVED = 20;

/** The executions that are reserved for a function; undefined if it uses the AWS account's unreserved concurrency. */
export function reservedExecutions(name: FunctionName, reserved: number): number | undefined {
  const share = CONCURRENCY_SHARES[name];
  return reserved === 0 || share === undefined ? undefined : Math.floor(share * reserved);
}

/** How many executions all functions together reserve: at most `reserved`, since each share is rounded down. */
export const totalReserved = (reserved: number): number =>
  Object.values(CONCURRENCY_SHARES).reduce((sum, share) => sum + Math.floor(share * reserved), 0);
