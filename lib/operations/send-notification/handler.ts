import { hash } from 'node:crypto';
import { messageText } from '../../aws/sqs.ts';
import { createOperationHandler } from '../../http/call.ts';
import type { Call, Handler, Reply, RequestOf, ResponseOf } from '../../http/operation.ts';
import type { Feed } from '../../ingest/queues.ts';
import type { Deps } from '../../shared/deps.ts';
import { codePoints } from '../../shared/json.ts';
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
        lines.push(messageText({ account_id: accountId, at_ms: sentMs, ...alertRecord(alert) }));
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

export const createHandler = (deps: Deps, { feed }: { feed: Feed }): Handler =>
  createOperationHandler(sendNotification, { validate, operate: createSendNotification(deps, feed) }, deps);

const RFC_3339 = /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i;
const RESOLVED = ' (resolved)';
const MAX_TITLE = 512;
/** A longer identity is replaced by its hash. */
const MAX_IDENTITY = 128;

/** Labels or annotations, in the order of their names; none if they are absent or null. */
const textsOf = (value: unknown): Map<string, string> =>
  new Map(
    Object.entries(typeof value === 'object' && value !== null ? value : {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, text]) => (text === null ? [] : [[name, String(text)]])),
  );

/** The record of an alert of a notification, which the feed takes. @throws TypeError that says why it cannot be read */
function alertRecord(alert: unknown): object {
  if (typeof alert !== 'object' || alert === null) throw new TypeError('an alert must be an object');
  const { status, fingerprint, startsAt, labels, annotations } = alert as Partial<Record<string, unknown>>;
  const startMs = RFC_3339.test(String(startsAt)) ? Date.parse(String(startsAt).toUpperCase()) : Number.NaN;
  if (Number.isNaN(startMs)) throw new TypeError('startsAt must be a time of RFC 3339');
  const [labelTexts, notes] = [textsOf(labels), textsOf(annotations)];
  const text = [
    notes.get('summary'),
    labelTexts.get('alertname'),
    notes.get('description'),
    Array.from(labelTexts, ([name, value]) => `${name}=${value}`).join(', '),
  ].find((candidate) => candidate?.trim());
  if (text === undefined) throw new TypeError('it has no summary, alertname, description or label');
  const isIdentified = typeof fingerprint === 'string' && fingerprint !== '';
  if (!isIdentified && labelTexts.size === 0) throw new TypeError('it has no fingerprint and no label');
  const identity = isIdentified ? fingerprint.toWellFormed() : JSON.stringify([...labelTexts]);
  const end = status === 'resolved' ? RESOLVED : '';
  return {
    kind: 'alert',
    alert_key: `alertmanager ${identity.length > MAX_IDENTITY ? hash('sha256', identity, 'hex') : identity}`,
    title: `${cut(text.toWellFormed(), MAX_TITLE - end.length)}${end}`,
  };
}

const cut = (text: string, length: number) =>
  codePoints(text) > length ? Array.from(text).slice(0, length).join('') : text;
