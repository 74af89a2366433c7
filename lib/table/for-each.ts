/** Calls to DynamoDB that are under way at once. */
const CONCURRENCY = 16;

/** Calls `act` for each value, a few at once. @throws the first failure */
export async function forEach<Value>(values: Iterable<Value>, act: (value: Value) => Promise<void>): Promise<void> {
  const left = [...values].values();
  const worker = async () => {
    for (const value of left) await act(value);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
