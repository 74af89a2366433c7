/** What the operations of the feed share: they take the items that can be taken, and keep the others in the queue of refused records. */

import type { Deps } from '../deps.ts';
import { type Catalog, itemTextsOf, refusal } from '../http/errors.ts';
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
    const namedIn = (catalog?: Catalog) =>
      named.map(({ index, problems }) => ({ index, reason: reasonOf(problems, catalog) }));
    const more = refused.length - named.length;
    const reasons = itemTextsOf(list, namedIn());
    if (more > 0) reasons.push(`and ${more} more`);
    const texts = refused.values().map(({ item }) => textOf(item));
    // The refused first: nobody sends them again after a success.
    await ingestQueue.refuse({ from: path, texts, bodyBytes, reason: reasons.join('; ') }, sender);
    metrics.records({ records: 0, late: 0, refused: refused.length, failed: 0 });
    const told = namedIn(await call.catalog());
    if (accepted === 0) throw refusal('noItemTaken', { list, refused: told, more });
    await ingestQueue.send(lines, sender);
    return { data: { accepted, refused: told, refused_count: refused.length } };
  };
