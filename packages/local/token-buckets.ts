import QuickLRU from 'quick-lru';

export interface Throttle {
  /** Tokens added per second. */
  readonly rate: number;
  /** Capacity of the bucket. */
  readonly burst: number;
}

/**
 * Token buckets by name. A new bucket is full; the least recently used ones are dropped.
 * @param now a monotonic clock in milliseconds
 * @returns a function that refills a bucket and returns it; callers take tokens by decreasing its `tokens`
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
