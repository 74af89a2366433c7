import { messageText } from '../../aws/sqs.ts';
import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import { ApiError, refusal } from '../../http/errors.ts';
import type { Call, Handler, RequestOf } from '../../http/operation.ts';
import { type IngestQueue, messagesOf } from '../../ingest/queues.ts';
import { problemOf } from '../../ingest/records.ts';
import { type Int64, isInt64 } from '../../shared/json.ts';
import { sendRecords } from './schema.ts';
import { validate } from './validate-send-records.ts';

/** How many problems of a call are told. */
const TOLD = 10;

/** Checks records as the feed does, and sends them to it in one message. */
const createSendRecords =
  (ingestQueue: IngestQueue) =>
  async ({ body, caller, requestId, arrivedMs: sentMs, signal, admitted }: Call<RequestOf<typeof sendRecords>>) => {
    await admitted;
    const lines: string[] = [];
    const problems: string[] = [];
    for (const [index, given] of body.records.entries()) {
      const record = { account_id: caller.accountId, at_ms: sentMs, ...given };
      const line = messageText(record);
      const problem = problemOf(record, line, { sentMs, messageId: requestId, line: index + 1 });
      if (problem !== undefined) problems.push(`records[${index}]: ${problem}`);
      else if (!isOf(caller.accountId, given.account_id))
        problems.push(`records[${index}]: account_id must be ${caller.accountId}, or left out`);
      lines.push(line);
    }
    if (problems.length > 0)
      throw refusal('invalidRecords', {
        problems: problems.slice(0, TOLD),
        more: Math.max(0, problems.length - TOLD),
      });
    // Exact numbers may take more characters than they came with: 1e18.
    if (messagesOf(lines).length > 1) throw new ApiError('EntityTooLarge');
    await ingestQueue.send(lines, { accountId: caller.accountId, requestId, sentMs, signal });
    return { data: { accepted: lines.length } };
  };

const isOf = (accountId: Int64, given: unknown) =>
  given === undefined || (isInt64(given) && BigInt(given) === BigInt(accountId));

export const createHandler = (deps: Deps, { ingestQueue }: { ingestQueue: IngestQueue }): Handler =>
  createOperationHandler(sendRecords, { validate, operate: createSendRecords(ingestQueue) }, deps);
