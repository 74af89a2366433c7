/**
 * Whether a value cached at `sinceMs` is still current. It is not if the clock was set back to before that, since then its age is unknown.
 * @param sinceMs Unix milliseconds
 * @param nowMs Unix milliseconds
 */
export const isCurrent = (sinceMs: number, lifetimeMs: number, nowMs: number) =>
  nowMs >= sinceMs && nowMs - sinceMs < lifetimeMs;
