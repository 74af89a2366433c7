/** What differs between the functions: memory, and share of the reserved concurrency. Tools read it without the CDK. */
import type { FunctionName } from './grants.ts';

type PerFunction<Value> = Readonly<Partial<Record<FunctionName, Value>>>;

/** Lambda allots CPU in proportion: one vCPU for 1,769 MB. 512 is a guess, not measured on AWS. */
const DEFAULT_MEMORY_MB = 512;
const MEMORY_MB: PerFunction<number> = {
  'fallback-route': 256,
  'openapi-document': 256,
  // Work in bulk: a whole vCPU.
  'finish-merges': 1_769,
  'ingest-records': 1_769,
  // The most costly bodies take most of a second of a vCPU (`npm run bench -- bodies`).
  'send-notification': 1_769,
};

export const memoryMbOf = (name: FunctionName): number => MEMORY_MB[name] ?? DEFAULT_MEMORY_MB;

/**
 * Shares of the concurrent executions that the setting `reservedConcurrency` reserves. A share is both a guarantee and a limit: the
 * authorizer and the reads need the guarantee; merges, what is sent to the feed, and the routes without authorizer, need the limit. The other functions use the
 * AWS account's unreserved concurrency, which is at least 100. The shares add up to 1 and must not exceed it. `MIN_RESERVED` is 1 divided by
 * the smallest.
 */
const CONCURRENCY_SHARES: PerFunction<number> = {
  'usage-key-authorizer': 0.3,
  'browse-fleet': 0.2,
  'get-rum-resource': 0.1,
  'merge-alerts': 0.2,
  'send-notification': 0.05,
  'send-records': 0.05,
  'fallback-route': 0.05,
  'openapi-document': 0.05,
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
