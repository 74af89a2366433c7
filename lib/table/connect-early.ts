import { setTimeout as sleep } from 'node:timers/promises';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { getRow } from './row.ts';

/** Milliseconds. Near DynamoDB a connection and a read take a tenth of it; a longer wait would save no later call anything. */
const LONGEST_WAIT_MS = 100;

/**
 * Reads a row that no table has, so that the first call finds connections to DynamoDB, and the code of a read compiled.
 * @param connections reads that go out at once: each opens a connection
 * @returns when they are answered, or after 100 ms: they go on then. No error: a call will meet it too
 */
export async function connectEarly(table: Table, connections: number): Promise<void> {
  const reads = Array.from({ length: connections }, () => getRow(table, keys.appKey('')).catch(() => undefined));
  await Promise.race([Promise.all(reads), sleep(LONGEST_WAIT_MS, undefined, { ref: false })]);
}
