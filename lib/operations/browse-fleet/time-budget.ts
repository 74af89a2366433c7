/**
 * A share of a call's time that is used only while its work runs. Its signal aborts when it is used up or the call ends.
 * @param ms what the budget holds; undefined: no limit
 */
export function createTimeBudget(ms: number | undefined, callSignal: AbortSignal) {
  if (ms === undefined) return { signal: callSignal, spend: <Result>(work: () => Promise<Result>) => work() };
  const usedUp = new AbortController();
  let leftMs = ms;
  return {
    signal: AbortSignal.any([callSignal, usedUp.signal]),
    async spend<Result>(work: () => Promise<Result>): Promise<Result> {
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
