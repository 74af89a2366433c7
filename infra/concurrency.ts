/** How the functions share the concurrent executions that the setting `reservedConcurrency` reserves. */
import type { FunctionName } from './grants.ts';

/**
 * A share is both a guarantee and a limit. The authorizer and the reads need the guarantee; merges, and the routes without
 * authorizer, need the limit. The other functions use the account's unreserved concurrency, which is at least 100.
 */
const SHARES: Readonly<Partial<Record<FunctionName, number>>> = {
  'usage-key-authorizer': 0.3,
  'browse-fleet': 0.25,
  'get-rum-resource': 0.15,
  'merge-alerts': 0.2,
  'fallback-route': 0.05,
  'openapi-document': 0.05,
};

/** With fewer, the smallest share would round to 0, and Lambda would refuse every call of that function. */
export const MIN_RESERVED = 20;

/** @returns undefined if the function uses the account's unreserved concurrency */
export function reservedExecutions(name: FunctionName, reserved: number): number | undefined {
  const share = SHARES[name];
  return reserved === 0 || share === undefined ? undefined : Math.floor(share * reserved);
}

/** What all functions together reserve: at most `reserved`, since each share is rounded down. */
export const reservedInAll = (reserved: number): number =>
  (Object.keys(SHARES) as FunctionName[]).reduce((sum, name) => sum + (reservedExecutions(name, reserved) ?? 0), 0);
