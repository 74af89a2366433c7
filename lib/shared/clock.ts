/**
 * Whether a value cached at `sinceMs` is still current. If the clock was set back to before `sinceMs`, the age is unknown, and the value is
 * not current. Uses no monotonic clock, since that stops while Lambda freezes the function between calls.
 * @param sinceMs Unix milliseconds
 * @param nowMs Unix milliseconds
 */
export const isCurrent = (sinceMs: number, lifetimeMs: number, nowMs: number) =>
  nowMs >= sinceMs && nowMs - sinceMs < lifetimeMs;
