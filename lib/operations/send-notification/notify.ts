import { messageText } from '../../aws/sqs.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { Call, Handler, Reply, RequestOf, ResponseOf } from '../../http/operation.ts';
import type { Feed } from '../../ingest/queues.ts';
import type { Deps } from '../../shared/deps.ts';
import { recordOfAlert } from './alert.ts';
import { sendNotification } from './schema.ts';
import { validate } from './validate-send-notification.ts';

/** How many refused alerts a message's reason names. */
const TOLD = 10;

/** Sends the alerts of a notification to the feed, and those that cannot be read to the queue of refused records. */
const createSendNotification =
  ({ log, metrics }: Pick<Deps, 'log' | 'metrics'>, feed: Feed) =>
  async ({
    body,
    caller,
    requestId,
    arrivedMs: sentMs,
    signal,
  }: Call<RequestOf<typeof sendNotification>>): Promise<Reply<ResponseOf<typeof sendNotification>>> => {
    const { accountId } = caller;
    const lines: string[] = [];
    const unread: string[] = [];
    const refused: { index: number; reason: string }[] = [];
    for (const [index, alert] of body.alerts.entries()) {
      try {
        lines.push(messageText({ account_id: accountId, at_ms: sentMs, ...recordOfAlert(alert, sentMs) }));
      } catch (error) {
        unread.push(messageText(alert));
        refused.push({ index, reason: (error as Error).message });
      }
    }
    const { truncatedAlerts } = body as { truncatedAlerts?: unknown };
    if (Number(truncatedAlerts) > 0)
      log.warn('notification truncated', { account_id: String(accountId), truncated_alerts: Number(truncatedAlerts) });
    const sender = { accountId, requestId, sentMs, signal };
    if (refused.length === 0) {
      await feed.send(lines, sender);
      return { data: { accepted: lines.length } };
    }
    // The refused first: nobody sends them again after a success.
    const reasons = refused.slice(0, TOLD).map(({ index, reason }) => `alerts[${index}]: ${reason}`);
    await feed.refuse(unread, reasons.join('; '), sender);
    metrics.records({ records: 0, late: 0, refused: refused.length, failed: 0 });
    await feed.send(lines, sender);
    return { data: { accepted: lines.length, refused } };
  };

export const createSendNotificationHandler = (deps: Deps, feed: Feed): Handler =>
  createOperationHandler(sendNotification, { validate, operate: createSendNotification(deps, feed) }, deps);
