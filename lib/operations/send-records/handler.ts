import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { ItemText } from '../../http/item-texts.ts';
import type { Call, Handler } from '../../http/operation.ts';
import { type IngestQueue, lineOf } from '../../ingest/index.ts';
import { createTakeItems } from '../feed-items.ts';
import { sendRecords } from './schema.ts';
import { validate } from './validate-send-records.ts';

/** Sends records to the feed, each as it came. */
function createSendRecords(deps: Deps, ingestQueue: IngestQueue) {
  const takeItems = createTakeItems(sendRecords, 'records', deps, ingestQueue);
  return async (call: Call<{ records: readonly ItemText[] }>) => {
    await call.admitted;
    const sender = { accountId: call.caller.accountId, sentMs: call.arrivedMs };
    return takeItems(call, call.body.records, {
      lineOf: (item) => lineOf(item, sender),
      textOf: ({ text }) => text,
    });
  };
}

export const createHandler = (deps: Deps, { ingestQueue }: { ingestQueue: IngestQueue }): Handler =>
  createOperationHandler(sendRecords, { validate, operate: createSendRecords(deps, ingestQueue) }, deps);
