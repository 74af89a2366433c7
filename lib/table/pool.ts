/**
 * Does `work` for each item, at most `concurrency` at once. The first failure ends all of it, and none is under way any more
 * when this returns.
 * @param work its signal aborts when `signal` does, and when other work has failed
 * @throws the first failure
 */
export async function forEach<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const left = items.values();
  const stop = new AbortController();
  const ending = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    try {
      for (const item of left) {
        ending.throwIfAborted();
        await work(item, ending);
      }
    } catch (error) {
      failure ??= { error };
      stop.abort();
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  if (failure) throw failure.error;
}
