/**
 * Whether something cached at `sinceMs` is still current. If the clock was set back to before that, its age is
 * unknown, so it is not.
 * @param sinceMs Unix milliseconds
 * @param nowMs Unix milliseconds
 */
export const isCurrent = (sinceMs: number, lifetimeMs: number, nowMs: number) =>
  nowMs >= sinceMs && nowMs - sinceMs < lifetimeMs;
