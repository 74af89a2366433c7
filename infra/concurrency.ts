/** How a stack divides the concurrent executions that it reserves: the setting `reservedConcurrency`. */
import type { FunctionName } from './grants.ts';

/**
 * A share is both a guarantee and a limit. Every call needs the authorizer, then the reads. Merges, and the routes that are open to
 * everyone, are held to their share. The other functions take from what the account has left unreserved, at least 100.
 */
const SHARES: Readonly<Partial<Record<FunctionName, number>>> = {
  'usage-key-authorizer': 0.3,
  'browse-fleet': 0.25,
  'get-rum-resource': 0.15,
  'merge-alerts': 0.2,
  'fallback-route': 0.05,
  'openapi-document': 0.05,
};

/** Of fewer, a share would be none: Lambda would refuse every call. */
export const FEWEST_RESERVED = 20;

/** @returns undefined: the function takes from what is unreserved */
export function reservedExecutions(name: FunctionName, reserved: number): number | undefined {
  const share = SHARES[name];
  return reserved === 0 || share === undefined ? undefined : Math.floor(share * reserved);
}

/** What the shares add up to. */
export const reservedInAll = (reserved: number): number =>
  (Object.keys(SHARES) as FunctionName[]).reduce((sum, name) => sum + (reservedExecutions(name, reserved) ?? 0), 0);
