/** Where a record comes from. A file that is imported counts as one message, sent at the time of the command. */
export interface Origin {
  /** Unix milliseconds. */
  readonly sentMs: number;
  readonly messageId: string;
  /** The record's line in the message, from 1. */
  readonly line: number;
}

/**
 * The order of a record among those of its row: time of the change, time sent, message id and line, as bytes that sort like these. The larger
 * one is the later, and decides. DynamoDB compares bytes as {@link isBefore} does.
 */
export type Order = Uint8Array;

const TIME_BYTES = 6;
/** The first half of a UUID: enough to distinguish messages of one millisecond. */
const ID_BYTES = 8;
const LINE_BYTES = 4;

/** Only 24 bytes, since a row stores up to three orders. */
export function orderOf(atMs: number, { sentMs, messageId, line }: Origin): Order {
  const hex = messageId.replaceAll('-', '');
  const isUuid = /^[0-9a-f]{32}$/i.test(hex);
  const id = (isUuid ? Buffer.from(hex, 'hex') : Buffer.from(messageId)).subarray(0, ID_BYTES);
  const order = Buffer.alloc(2 * TIME_BYTES + id.length + LINE_BYTES);
  order.writeUIntBE(atMs, 0, TIME_BYTES);
  order.writeUIntBE(sentMs, TIME_BYTES, TIME_BYTES);
  order.set(id, 2 * TIME_BYTES);
  order.writeUInt32BE(line, 2 * TIME_BYTES + id.length);
  return order;
}

/** Below the orders of all records of this time or a later one. */
export function orderOfTime(atMs: number): Order {
  const order = Buffer.alloc(TIME_BYTES);
  order.writeUIntBE(atMs, 0, TIME_BYTES);
  return order;
}

/** The order of what happens at a time without a record: below those of all records that are sent then or later, and above another order. */
export function orderWithoutRecord(atMs: number, above: Order): Order {
  const order = orderOf(atMs, { sentMs: atMs, messageId: '', line: 0 });
  return isBefore(above, order) ? order : nextOrder(above);
}

/** The next order after one. */
function nextOrder(order: Order): Order {
  const next = Buffer.from(order);
  for (let index = next.length - 1; index >= 0; index -= 1) {
    next[index] = ((next[index] as number) + 1) % 256;
    if (next[index] !== 0) break;
  }
  return next;
}

/** The order of the same record if its change had happened at another time. */
export const orderAt = (atMs: number, order: Order): Order =>
  Buffer.concat([orderOfTime(atMs), order.subarray(TIME_BYTES)]);

/** Whether a stored order is absent or below another. */
export const isBefore = (stored: unknown, order: Order): boolean =>
  stored === undefined || Buffer.compare(stored as Order, order) < 0;

/** The latest of some records; undefined if there are none. */
export const latestOf = <Ordered extends { order: Order }>(records: readonly Ordered[]): Ordered | undefined =>
  records.reduce<Ordered | undefined>(
    (latest, record) => (latest && isBefore(record.order, latest.order) ? latest : record),
    undefined,
  );

export function laterOrder(atMs: number, stored?: Order): Order {
  const order = orderOfTime(atMs);
  return stored && isBefore(order, stored) ? stored : order;
}

/** When the change happened, in Unix milliseconds. */
export const timeOf = (order: Order): number => Buffer.from(order).readUIntBE(0, TIME_BYTES);

/** When the record was sent, in Unix milliseconds. */
export const sentOf = (order: Order): number => Buffer.from(order).readUIntBE(TIME_BYTES, TIME_BYTES);

/** A `ttl`, in Unix seconds, so many days after a time. */
export const ttlAfter = (atMs: number, days: number): number => Math.ceil(atMs / 1_000) + days * 24 * 3_600;
/** A `ttl` counted from when a record was sent. */
export const ttlOf = (order: Order, days: number): number => ttlAfter(sentOf(order), days);
