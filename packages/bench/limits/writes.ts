/** Writes are granted by the size of the stored row or the item put, and charged by the larger of the row before and after. */
import { itemBytes, MAX_ITEM_BYTES } from '../../../lib/dynamodb/item-size.ts';
import { writeUnitsOf } from './capacity.ts';
import type { Json, Row } from './engine.ts';
import { conflict, invalid, throttled } from './limit-errors.ts';
import { type Call, chargeGrowth, consumed } from './limited-call.ts';

const BATCH_ITEMS = 25;
const BATCH_BYTES = 16 * 1024 * 1024;

/** Bytes of the item that a request puts; 0 for one that puts none. @throws Refusal when it is larger than 400 KB */
export function bytesWritten({ Item }: Json): number {
  const bytes = Item ? itemBytes(Item) : 0;
  if (bytes > MAX_ITEM_BYTES) throw invalid('Item size has exceeded the maximum allowed size');
  return bytes;
}

/** `PutItem`, `UpdateItem` or `DeleteItem`. */
export const writeItem =
  (action: string) =>
  async (call: Call): Promise<Json> => {
    const { request, engine } = call;
    const row = await engine.rowOf(request.TableName, request.Item ?? request.Key);
    return admitWrites(call, [{ row, bytes: bytesWritten(request) }], async ([write]) => {
      if (write?.verdict === 'conflict') throw conflict();
      if (write?.verdict === 'throttled') throw throttled('write', row.table);
      // A failed condition is charged for the size of the stored row.
      return engine.call(action, request);
    });
  };

/** Whether a write may be done, and the units that were taken for it. */
interface Admission {
  readonly verdict: 'granted' | 'throttled' | 'conflict';
  units: number;
}

/**
 * Decides on each write separately, takes its units, and marks the rows as being written.
 * @param writes each with the bytes of the item that it puts
 * @param act sends the granted ones
 */
async function admitWrites<Write extends { row: Row; bytes: number }>(
  call: Call,
  writes: readonly Write[],
  act: (judged: readonly (Write & Admission)[]) => Promise<Json>,
): Promise<Json> {
  const { request, engine, partitions, inUse } = call;
  const rows = writes.map(({ row }) => row);
  const storedBytes = await engine.storedBytes(rows);
  const { conflicts, end } = inUse.write(rows);
  const judged = writes.map((write, index): Write & Admission => {
    const { row, bytes } = write;
    if (conflicts[index]) return { ...write, verdict: 'conflict', units: 0 };
    const units = writeUnitsOf(Math.max(storedBytes(row), bytes));
    if (!partitions.take(row.partition, 'write', units)) return { ...write, verdict: 'throttled', units: 0 };
    return { ...write, verdict: 'granted', units };
  });
  try {
    const reply = await act(judged);
    const granted = judged.filter(({ verdict }) => verdict === 'granted');
    await chargeGrowth(call, granted, 1);
    return { ...reply, ...consumed(request, judged, 'write') };
  } finally {
    end();
  }
}

/**
 * Throttled items are returned as unprocessed; if no item can be written, the call is throttled. Source: API Reference, `BatchWriteItem`.
 * That items in use by a transaction are returned as unprocessed is not confirmed.
 */
export async function batchWriteItem(call: Call): Promise<Json> {
  const { request, engine } = call;
  const members = Object.entries<Json[]>(request.RequestItems).flatMap(([table, requests]) =>
    requests.map((member) => ({ table, member })),
  );
  if (members.length > BATCH_ITEMS) throw invalid('Too many items requested for the BatchWriteItem call');
  const writes = await Promise.all(
    members.map(async ({ table, member }) => {
      const written = member.PutRequest ?? member.DeleteRequest;
      return { member, bytes: bytesWritten(written), row: await engine.rowOf(table, written.Item ?? written.Key) };
    }),
  );
  if (writes.reduce((sum, { bytes }) => sum + bytes, 0) > BATCH_BYTES) throw invalid('The batch exceeds 16 MB');
  return admitWrites(call, writes, async (judged) => {
    const requestOf = (wanted: boolean) => {
      const items: Record<string, Json[]> = {};
      for (const { row, member, verdict } of judged)
        if ((verdict === 'granted') === wanted) items[row.table] = [...(items[row.table] ?? []), member];
      return items;
    };
    if (!judged.some(({ verdict }) => verdict === 'granted')) throw throttled('write', members[0]?.table ?? '');
    const reply = await engine.call('BatchWriteItem', { RequestItems: requestOf(true) });
    return { ...reply, UnprocessedItems: requestOf(false) };
  });
}
