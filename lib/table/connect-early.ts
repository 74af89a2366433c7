import { setTimeout as sleep } from 'node:timers/promises';
import { connectTable, type Table, type TableOptions, TIMEOUTS } from './client.ts';
import { createHttpHandler } from './http-handler.ts';
import { keys } from './keys.ts';
import { getRow } from './row.ts';

/** Milliseconds. Near DynamoDB connections and a read take a tenth of it; a longer wait would save no later call anything. */
const LONGEST_WAIT_MS = 100;

export interface Early {
  /** Where the SDK will find DynamoDB. Elsewhere, and if it is unknown, the reads open the connections. */
  readonly url: string | undefined;
  /** As many as reads that go out at once. */
  readonly connections: number;
  /** Milliseconds. */
  readonly longestMs?: number;
}

/**
 * Connects to a table so that its first call finds connections to DynamoDB, and the code of a read compiled, which reads of a row
 * that no table has do. A connection waits twice for the server: meanwhile the client is created, and the reads are prepared.
 * @returns when the reads are answered, or after `longestMs`: they go on then. No error: a call will meet it too
 */
export async function connectEarly(
  options: TableOptions,
  { url, connections, longestMs = LONGEST_WAIT_MS }: Early,
): Promise<Table> {
  const { timeouts = TIMEOUTS } = options;
  const late = sleep(longestMs, undefined, { ref: false });
  const requestHandler = createHttpHandler(timeouts);
  const server = URL.parse(url ?? '');
  const opening = server && requestHandler.open(server, connections);
  await Promise.race([opening?.found, late]);
  const table = connectTable({ ...options, requestHandler });
  await Promise.race([opening?.connected, late]);
  const reads = Array.from({ length: connections }, () => getRow(table, keys.appKey('')).catch(() => undefined));
  await Promise.race([Promise.all(reads), late]);
  return table;
}
