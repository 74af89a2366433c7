import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet, rowName } from '../../../lib/table/read.ts';
import { objectId } from '../../support/incidents.ts';
import { newTable, put, putAll } from '../../support/service.ts';
import { replyLost, tapWire } from '../../support/wire.ts';

it('reads 1,601 keys, 16 calls at once, though every call loses its first reply', async () => {
  const table = await newTable();
  const wanted = Array.from({ length: 1_601 }, () => keys.alert(1, objectId()));
  const stored = wanted.filter((_, index) => index % 1_600 === 0);
  for (const key of stored) await put(table, key, { title: 't' });

  const sent = new Set<string>();
  let [underWay, mostAtOnce] = [0, 0];
  tapWire(table, async ({ body }, send) => {
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    const isFirst = !sent.has(body);
    sent.add(body);
    // The reply to a read is lost: it makes no difference whether DynamoDB has seen the call.
    await (isFirst ? sleep(20) : send()).finally(() => {
      underWay -= 1;
    });
    if (isFirst) throw replyLost();
  });
  const { rows } = await batchGet(table, wanted);
  expect([...rows.keys()].sort()).toEqual(stored.map(rowName).sort());
  expect(mostAtOnce).toBe(16);
});

it('asks again for the keys that DynamoDB leaves unprocessed, until it has them all', async () => {
  const table = await newTable();
  const wanted = Array.from({ length: 150 }, () => keys.alert(1, objectId()));
  await putAll(
    table,
    wanted.map((key) => ({ ...key, title: 't' })),
  );
  // Two fifths of the keys of each call are processed.
  let calls = 0;
  table.client.middlewareStack.add(
    (next) => async (args) => {
      calls += 1;
      const { RequestItems } = args.input as { RequestItems: Record<string, { Keys: object[] }> };
      const requested = RequestItems[table.name] as { Keys: object[] };
      const processed = Math.ceil(requested.Keys.length * 0.4);
      const requestedNow = { [table.name]: { ...requested, Keys: requested.Keys.slice(0, processed) } };
      const result = await next({ ...args, input: { ...args.input, RequestItems: requestedNow } });
      const unprocessed = { [table.name]: { ...requested, Keys: requested.Keys.slice(processed) } };
      const output = {
        ...(result.output as object),
        UnprocessedKeys: processed < requested.Keys.length ? unprocessed : {},
      };
      return { ...result, output: output as never };
    },
    { step: 'initialize', priority: 'high', name: 'leavesKeys' },
  );
  const { rows, batches } = await batchGet(table, wanted, { attributes: ['title'] });
  expect([...rows.keys()].sort()).toEqual(wanted.map(rowName).sort());
  expect(new Set([...rows.values()].map(({ title }) => title))).toEqual(new Set(['t']));
  expect(calls).toBeGreaterThan(4);
  // The units of all calls are counted: each row takes one.
  expect(batches.map(({ units }) => units)).toEqual([100, 50]);
});

it('goes on while DynamoDB throttles, for longer than the SDK retries a call', async () => {
  const table = await newTable();
  const key = keys.alert(1, objectId());
  await put(table, key, { title: 't' });
  const tap = tapWire(table, async ({ number }, send) => {
    if (number > 5) return send();
    throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException', $metadata: {} });
  });
  const { rows } = await batchGet(table, [key]);
  expect(rows.of(key)).toMatchObject({ title: 't' });
  expect(tap.attempts).toHaveLength(6);
});

it('gives up when keys stay unprocessed and no abort signal ends it', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0); // no waits
  onTestFinished(() => void vi.restoreAllMocks());
  const table = await newTable();
  let calls = 0;
  table.client.middlewareStack.add(
    (next) => async (args) => {
      calls += 1;
      const result = await next(args);
      const { RequestItems } = args.input as { RequestItems: object };
      const output = { ...(result.output as object), UnprocessedKeys: calls < 100 ? RequestItems : {} };
      return { ...result, output: output as never };
    },
    { step: 'initialize', priority: 'high', name: 'leavesAllKeys' },
  );
  await expect(batchGet(table, [keys.alert(1, objectId())])).rejects.toMatchObject({
    name: 'ProvisionedThroughputExceededException',
  });
});
