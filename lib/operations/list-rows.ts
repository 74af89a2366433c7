/** Reads a page of rows that are in the order of their list, and bounds what it costs. */
import { chunksOf } from '../shared/concurrency.ts';
import type { Table } from '../table/client.ts';
import type { AttributeOf, KeyOf, PartitionOf, RowKind, Stored } from '../table/keys.ts';
import { batchGet, queryPage } from '../table/read.ts';

/** Maximum rows that a call examines. */
const MAX_EXAMINED = 1_000;
/** Maximum read units of the rows that a call examines: those of 400 KB, eventually consistent. */
const MAX_UNITS = 50;
const BYTES_PER_UNIT = 8_192;
/** Bytes that records and merges give a row of a member or incident at most. */
export const MAX_ROW_BYTES = 4_500;
/** Keys of a batch. Their rows take half a unit each or, with more than 4 KB, one: then the page ends before the next batch. */
const BATCH = 50;

interface Chunk<Kind extends RowKind> {
  rows: readonly Stored<Kind>[];
  units: number;
  /** No rows follow. */
  isLast: boolean;
}

/** Reads further rows. @returns undefined: they might take more than `units` */
type Read<Kind extends RowKind> = (
  after: string | undefined,
  most: { units: number; rows: number; wanted: number },
) => Promise<Chunk<Kind> | undefined>;

export interface PageOptions<Kind extends RowKind> {
  limit: number;
  after: string | undefined;
  /** Absent: all rows do. */
  fits?: ((row: Stored<Kind>) => boolean) | undefined;
}

/**
 * A page of rows. It has fewer than `limit`, or none, although more follow, when the call has examined as many as it may.
 * @returns `next`: the `after` of the next page; undefined: none follows
 */
async function readPage<Kind extends RowKind>(
  read: Read<Kind>,
  { limit, after, fits }: PageOptions<Kind>,
): Promise<{ rows: Stored<Kind>[]; next: string | undefined }> {
  const rows: Stored<Kind>[] = [];
  let place = after;
  for (let units = 0, examined = 0; ; ) {
    const wanted = fits ? Number.POSITIVE_INFINITY : limit + 1 - rows.length;
    const chunk = await read(place, { units: MAX_UNITS - units, rows: MAX_EXAMINED - examined, wanted });
    if (!chunk) return { rows, next: place };
    units += chunk.units;
    // The rows of the first chunk are shown whatever they cost, so that the list goes on.
    if (units > MAX_UNITS && place !== after) return { rows, next: place };
    for (const row of chunk.rows) {
      if (!fits || fits(row)) {
        if (rows.length === limit) return { rows, next: place };
        rows.push(row);
      }
      place = row.sk;
    }
    examined += chunk.rows.length;
    if (chunk.isLast) return { rows, next: undefined };
  }
}

/** A page of the rows of a partition. */
export const readPartition = <Kind extends RowKind>(
  table: Table,
  partition: PartitionOf<Kind>,
  { descending, ...options }: PageOptions<Kind> & { descending: boolean },
) =>
  readPage<Kind>(async (after, most) => {
    const limit = Math.min(most.rows, most.wanted, Math.floor((most.units * BYTES_PER_UNIT) / MAX_ROW_BYTES));
    if (limit < 1) return undefined;
    const { rows, units, next } = await queryPage(table, partition, { limit, after, descending, consistent: false });
    return { rows, units, isLast: next === undefined };
  }, options);

/** A page of the rows with these keys, as far as they exist. @param keys those after `after`, in the order of the list, each once */
export const readNamed = <Kind extends RowKind>(
  table: Table,
  keys: readonly KeyOf<Kind>[],
  options: PageOptions<Kind>,
) => {
  const batches = chunksOf(keys, BATCH);
  return readPage<Kind>(async (_after, { units: unitsLeft }) => {
    if (unitsLeft < BATCH / 2) return undefined;
    const batch = batches.shift() ?? [];
    const { rows, units } = await batchGet<Kind, AttributeOf<Kind>>(table, batch, { consistent: false });
    return {
      rows: batch.flatMap((key) => (rows.of(key) as Stored<Kind> | undefined) ?? []),
      units,
      isLast: batches.length === 0,
    };
  }, options);
};
