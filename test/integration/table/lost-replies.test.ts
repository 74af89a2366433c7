/** Whether a row that is there shows that a write of it was applied. `test/unit/table/write` and `test/schedules` have the rest. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { IS_NEW } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { putAction, putUncontestedRow, transact } from '../../../lib/table/write.ts';
import { connectionLost, intercepted, isTransaction } from '../../support/faults.ts';
import { newTable, put } from '../../support/service.ts';

const table = await newTable();
/** Attributes of each type that rows have, the bytes as orders are made: of another class than those that are read. */
const row = (sk: string) => ({
  ...{ ...keys.host(1, sk), row_order: Buffer.from('00ff80', 'hex'), reason_codes: ['a', 'é'], enabled: true },
  ...{ report_interval_ms: 2n ** 60n, more: { nested: [1.5, null] }, absent: undefined },
});

it('a transaction that DynamoDB reports as conflicting, and applies later, is not reported as failed', async () => {
  let isFirst = true;
  const conflicting = intercepted(table, async (send, request) => {
    const reply = await send();
    if (!isFirst || !isTransaction(request)) return reply;
    isFirst = false;
    const CancellationReasons = [{ Code: 'TransactionConflict' }];
    throw new TransactionCanceledException({ $metadata: {}, message: 'conflict', CancellationReasons });
  });
  expect(await transact(conflicting, [putAction(row('h'), IS_NEW)])).toBeUndefined();
  // A row of somebody else is not taken for it.
  await put(table, keys.host(1, 'i'), { ...row('i'), row_order: Buffer.from('00ff81', 'hex') });
  expect(await transact(table, [putAction(row('i'), IS_NEW)])).toBe(0);
});

it('a put whose reply is lost is not reported as failed', async () => {
  const losing = intercepted(table, async (send, { name }) => {
    const reply = await send();
    if (name === 'PutCommand') throw connectionLost();
    return reply;
  });
  await expect(putUncontestedRow(losing, row('j'))).resolves.toBeUndefined();
});
