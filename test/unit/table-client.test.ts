import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it, vi } from 'vitest';
import { connectTable } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { getRow } from '../../lib/table/row.ts';
import { TIME_LIMITS } from '../../lib/time-limits.ts';

/** Begins `<name> - <step>`. */
const ofLogger = (line: string) => line.startsWith('loggerMiddleware ');

it('copies no input and no output for a logger, as a client of the SDK does', () => {
  const plain = new DynamoDBClient({ region: 'local' });
  expect(plain.middlewareStack.identify().filter(ofLogger)).toHaveLength(1);
  expect(connectTable({ name: 't' }).client.middlewareStack.identify().filter(ofLogger)).toEqual([]);
});

it('gives each of three attempts 800 ms for its reply: together less than a call has', async () => {
  const timer = vi.spyOn(globalThis, 'setTimeout');
  const nobody = connectTable({ name: 't', endpoint: 'http://127.0.0.1:9' });
  await expect(getRow(nobody, keys.member(1, 2))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(timer.mock.calls.filter(([, ms]) => ms === 800)).toHaveLength(3);
  timer.mockRestore();
  expect(3 * 800).toBeLessThan(TIME_LIMITS.callMs);
});
