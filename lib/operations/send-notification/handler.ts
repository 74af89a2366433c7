import { messageText } from '../../aws/sqs.ts';
import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { Call, Handler, Reply, RequestOf, ResponseOf } from '../../http/operation.ts';
import type { IngestQueue } from '../../ingest/queues.ts';
import { isInt64 } from '../../shared/json.ts';
import { recordOfAlert } from './alert.ts';
import { sendNotification } from './schema.ts';
import { validate } from './validate-send-notification.ts';

/** How many refused alerts are named. */
const TOLD = 10;

/** Sends the alerts of a notification to the feed, and keeps those that cannot be read in the queue of refused records. */
const createSendNotification =
  ({ log, metrics }: Pick<Deps, 'log' | 'metrics'>, ingestQueue: IngestQueue) =>
  async ({
    body,
    bodyBytes,
    caller,
    requestId,
    arrivedMs: sentMs,
    signal,
    admitted,
  }: Call<RequestOf<typeof sendNotification>>): Promise<Reply<ResponseOf<typeof sendNotification>>> => {
    await admitted;
    const { accountId } = caller;
    const lines: string[] = [];
    const refused: { index: number; reason: string }[] = [];
    const unread: unknown[] = [];
    for (const [index, alert] of body.alerts.entries()) {
      try {
        lines.push(messageText({ account_id: accountId, at_ms: sentMs, ...recordOfAlert(alert, sentMs) }));
      } catch (error) {
        refused.push({ index, reason: (error as Error).message });
        unread.push(alert);
      }
    }
    const { truncatedAlerts } = body as { truncatedAlerts?: unknown };
    if (isInt64(truncatedAlerts) && truncatedAlerts > 0)
      log.warn('notification truncated', { account_id: String(accountId), truncated_alerts: truncatedAlerts });
    const sender = { accountId, requestId, sentMs, signal };
    if (refused.length === 0) {
      await ingestQueue.send(lines, sender);
      return { data: { accepted: lines.length } };
    }
    const named = refused.slice(0, TOLD);
    const reasons = named.map(({ index, reason }) => `alerts[${index}]: ${reason}`);
    if (refused.length > TOLD) reasons.push(`and ${refused.length - TOLD} more`);
    // The refused first: nobody sends them again after a success.
    await ingestQueue.refuse(
      { from: sendNotification.path, values: unread, bodyBytes, reason: reasons.join('; ') },
      sender,
    );
    metrics.records({ records: 0, late: 0, refused: refused.length, failed: 0 });
    await ingestQueue.send(lines, sender);
    return { data: { accepted: lines.length, refused: named, refused_count: refused.length } };
  };

export const createHandler = (deps: Deps, { ingestQueue }: { ingestQueue: IngestQueue }): Handler =>
  createOperationHandler(sendNotification, { validate, operate: createSendNotification(deps, ingestQueue) }, deps);
