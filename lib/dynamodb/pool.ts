/** Concurrent calls to DynamoDB. */
export const CONCURRENCY = 16;

/**
 * Runs `work` for each item with limited concurrency. After a failure no further work starts; none is running when this returns.
 * @param work its signal aborts with `signal`, and after a failure of other work
 * @throws the first failure
 */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<unknown>,
  { concurrency = CONCURRENCY, signal }: { concurrency?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const queue = [...items].values();
  const failed = new AbortController();
  const ending = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    try {
      for (const item of queue) {
        ending.throwIfAborted();
        await work(item, ending);
      }
    } catch (error) {
      failure ??= { error };
      failed.abort();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure) throw failure.error;
}
