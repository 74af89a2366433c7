/**
 * Whether a fact that was learned at `sinceMs` still counts. A clock that was set back is before the fact's beginning: it
 * cannot tell the fact's age, so the fact is over.
 * @param sinceMs Unix milliseconds
 * @param nowMs Unix milliseconds
 */
export const isCurrent = (sinceMs: number, lifetimeMs: number, nowMs: number) =>
  nowMs >= sinceMs && nowMs - sinceMs < lifetimeMs;
