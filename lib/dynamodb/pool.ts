/** Calls to DynamoDB that are under way at once. */
export const CONCURRENCY = 16;

/**
 * Runs `work` for each item, a few at once. The first failure ends it; nothing is still running when this returns.
 * @param work its signal aborts when `signal` does, and when other work has failed
 * @throws the first failure
 */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<unknown>,
  { concurrency = CONCURRENCY, signal }: { concurrency?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const left = [...items].values();
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
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure) throw failure.error;
}
