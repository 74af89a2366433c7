import { messageText } from '../../aws/sqs.ts';
import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import { ApiError } from '../../http/errors.ts';
import type { Call, Handler, RequestOf } from '../../http/operation.ts';
import type { IngestQueue } from '../../ingest/index.ts';
import { type Int64, isInt64 } from '../../shared/json.ts';
import { createTakeItems } from '../feed-items.ts';
import { recordOfAlert, type Sending } from './alert.ts';
import { sendNotification } from './schema.ts';
import { validate } from './validate-send-notification.ts';

export function createHandler(deps: Deps, { ingestQueue }: { ingestQueue: IngestQueue }): Handler {
  const takeItems = createTakeItems(sendNotification, 'alerts', deps, ingestQueue);
  async function operate(call: Call<RequestOf<typeof sendNotification>>) {
    await call.admitted;
    const { accountId } = call.caller;
    const { truncatedAlerts } = call.body as { truncatedAlerts?: unknown };
    if (isInt64(truncatedAlerts) && truncatedAlerts > 0)
      deps.log.warn('notification truncated', { account_id: String(accountId), truncated_alerts: truncatedAlerts });
    const { arrivedMs, source } = call;
    const sending = { arrivedMs, source, silentAfterS: deps.settings.alertSilenceSeconds };
    return takeItems(call, call.body.alerts, {
      lineOf: (alert) => lineOf(alert, accountId, sending),
      textOf: messageText,
    });
  }
  return createOperationHandler(sendNotification, { validate, operate }, deps);
}

function lineOf(alert: unknown, account_id: Int64, sending: Sending) {
  try {
    const record = recordOfAlert(alert, sending);
    return { line: `{"account_id":${account_id},"at_ms":${sending.arrivedMs},${record.slice(1)}` };
  } catch (error) {
    if (error instanceof ApiError && error.explanation) return { problems: [error.explanation] };
    throw error;
  }
}
