/** What the operations of the feed share: they take the items that can be taken, and keep the others in the queue of refused records. */

import type { Deps } from '../deps.ts';
import { itemTextsOf, refusal } from '../http/errors.ts';
import type { Call, Operation, Reply } from '../http/operation.ts';
import { type IngestQueue, type Problem, reasonOf } from '../ingest/index.ts';
import type { TypeOf } from '../shared/json.ts';
import type { FEED_OPERATION } from './feed-operation.ts';

/** How many refused items are named. */
const TOLD = 10;

/** How an operation reads its items. */
export interface ItemReader<Item> {
  /** An item as a line of the feed; or why it is refused. */
  lineOf(item: Item): { line: string } | { problems: readonly Problem[] };
  /** What is kept of a refused item. */
  textOf(item: Item): string;
}

/** Sends the items of calls to the feed. @throws ApiError from the promise if none can be taken, or a queue does not take them */
export const createTakeItems =
  ({ path }: Operation, list: string, { metrics }: Pick<Deps, 'metrics'>, ingestQueue: IngestQueue) =>
  async <Item>(
    call: Call<unknown>,
    items: readonly Item[],
    { lineOf, textOf }: ItemReader<Item>,
  ): Promise<Reply<TypeOf<typeof FEED_OPERATION.response>>> => {
    const { bodyBytes, caller, requestId, arrivedMs: sentMs, signal } = call;
    const lines: string[] = [];
    const refused: { index: number; item: Item; problems: readonly Problem[] }[] = [];
    items.forEach((item, index) => {
      const read = lineOf(item);
      if ('line' in read) lines.push(read.line);
      else refused.push({ index, item, problems: read.problems });
    });
    const sender = { accountId: caller.accountId, requestId, sentMs, signal };
    const accepted = lines.length;
    if (refused.length === 0) {
      await ingestQueue.send(lines, sender);
      return { data: { accepted } };
    }
    const named = refused.slice(0, TOLD);
    const more = refused.length - named.length;
    // The refused first: nobody sends them again after a success.
    await ingestQueue.refuse(
      {
        from: path,
        texts: refused.values().map(({ item }) => textOf(item)),
        bodyBytes,
        reason: [
          ...itemTextsOf(
            list,
            named.map(({ index, problems }) => ({ index, reason: reasonOf(problems) })),
          ),
          ...(more > 0 ? [`and ${more} more`] : []),
        ].join('; '),
      },
      sender,
    );
    metrics.records({ records: 0, late: 0, refused: refused.length, failed: 0 });
    const catalog = await call.catalog();
    const told = named.map(({ index, problems }) => ({ index, reason: reasonOf(problems, catalog) }));
    if (accepted === 0) throw refusal('noItemTaken', { list, refused: told, more });
    await ingestQueue.send(lines, sender);
    return { data: { accepted, refused: told, refused_count: refused.length } };
  };
