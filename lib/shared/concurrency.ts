/** Maximum number of concurrent calls to DynamoDB. */
export const CONCURRENCY = 16;

/**
 * Runs `work` for each item with limited concurrency. After a failure no further work starts; none is running when this returns.
 * @param work gets a signal that aborts when `signal` does, and when the work for another item fails
 * @throws the first failure
 */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<unknown>,
  { concurrency = CONCURRENCY, signal }: { concurrency?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const queue = [...items].values();
  const stop = new AbortController();
  const workSignal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    try {
      for (const item of queue) {
        workSignal.throwIfAborted();
        await work(item, workSignal);
      }
    } catch (error) {
      failure ??= { error };
      stop.abort();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure) throw failure.error;
}

/** Like `Promise.all`, but waits until all have ended. @throws the failure of the first that failed, in their order */
export async function allInOrder<const Promises extends readonly unknown[]>(promises: Promises) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Splits items into chunks of `size`; the last one may be smaller. */
export const chunksOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
