/** A share of a call's time that is used only while its work runs. */
export interface TimeBudget {
  /** Aborts when the budget is used up or the call ends. */
  readonly signal: AbortSignal;
  spend<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** @param ms what the budget holds; undefined: no limit */
export function createTimeBudget(ms: number | undefined, callSignal: AbortSignal): TimeBudget {
  if (ms === undefined) return { signal: callSignal, spend: (work) => work() };
  const usedUp = new AbortController();
  let leftMs = ms;
  return {
    signal: AbortSignal.any([callSignal, usedUp.signal]),
    async spend(work) {
      const began = performance.now();
      const timer = setTimeout(() => usedUp.abort(), Math.max(0, leftMs));
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        leftMs -= performance.now() - began;
      }
    },
  };
}
