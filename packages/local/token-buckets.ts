import QuickLRU from 'quick-lru';

/** Tokens a second, and the most that are kept. */
export interface Throttle {
  readonly rate: number;
  readonly burst: number;
}

/**
 * Token buckets by name, each full at first; those that were not used for longest are forgotten.
 * @param now milliseconds that never go back
 * @returns a function that gives the bucket of a name as it is now: the caller takes its tokens
 */
export function createTokenBuckets(maxSize: number, now: () => number) {
  const buckets = new QuickLRU<string, { tokens: number; atMs: number }>({ maxSize });
  return (name: string, { rate, burst }: Throttle): { tokens: number } => {
    const nowMs = now();
    const last = buckets.get(name) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, last.tokens + ((nowMs - last.atMs) / 1000) * rate);
    const bucket = { tokens, atMs: nowMs };
    buckets.set(name, bucket);
    return bucket;
  };
}
