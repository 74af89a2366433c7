import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { ItemText } from '../../http/item-texts.ts';
import type { Call, Handler } from '../../http/operation.ts';
import { type IngestQueue, lineOf } from '../../ingest/index.ts';
import { createTakeItems } from '../feed-items.ts';
import { sendRecords } from './schema.ts';
import { validate } from './validate-send-records.ts';

/** Sends records to the feed, each as it came. */
export function createHandler(deps: Deps, { ingestQueue }: { ingestQueue: IngestQueue }): Handler {
  const takeItems = createTakeItems(sendRecords, 'records', deps, ingestQueue);
  async function operate(call: Call<{ records: readonly ItemText[] }>) {
    await call.admitted;
    const sender = { accountId: call.caller.accountId, sentMs: call.arrivedMs };
    return takeItems(call, call.body.records, {
      lineOf: (item) => lineOf(item, sender),
      textOf: ({ text }) => text,
    });
  }
  return createOperationHandler(sendRecords, { validate, operate }, deps);
}
