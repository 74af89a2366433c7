/**
 * The baseline of `send-records` and `send-notification` that a careful user would write: it looks the app key up once, makes a line of each
 * record or alert, and sends them in as few messages. It checks no record, and of an alert only that it has its fields.
 */
import { createHash } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { keys } from '../../../lib/table/keys.ts';

const { DYNAMODB_ENDPOINT = '', INGEST_URL = '', TABLE_NAME } = process.env;
const { origin: endpoint, username: accessKeyId } = new URL(DYNAMODB_ENDPOINT);
const credentials = { accessKeyId, secretAccessKey: 'local' };
const table = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'local', credentials }));
const sqs = new SQSClient({ endpoint: new URL(INGEST_URL).origin, region: 'local', credentials });

const LINES_PER_MESSAGE = 1_000;

interface Alert {
  status: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  startsAt: string;
  fingerprint: string;
}

function recordOf({ status, labels, annotations, startsAt, fingerprint }: Alert) {
  const title = annotations.summary ?? labels.alertname;
  if (!title || !fingerprint || Number.isNaN(Date.parse(startsAt))) throw new TypeError('the alert lacks a field');
  return {
    kind: 'alert',
    source_id: `alertmanager ${fingerprint} ${new Date(startsAt).toISOString()}`,
    title: status === 'resolved' ? `${title} (resolved)` : title,
  };
}

const accounts = new Map<string, number>();

async function accountOf(appKey: string): Promise<number> {
  const known = accounts.get(appKey);
  if (known !== undefined) return known;
  const Key = keys.appKey(createHash('sha256').update(appKey).digest('hex'));
  const { Item } = await table.send(new GetCommand({ TableName: TABLE_NAME, Key }));
  if (!Item) throw new Error('the app key is unknown');
  accounts.set(appKey, Item.account_id);
  return Item.account_id;
}

interface Event {
  body: string;
  queryStringParameters: { app_key: string };
}

export const handler = async ({ body, queryStringParameters }: Event) => {
  const account_id = await accountOf(queryStringParameters.app_key);
  const at_ms = Date.now();
  const { records, alerts = [] } = JSON.parse(body) as { records?: object[]; alerts?: Alert[] };
  const lines = (records ?? alerts.map(recordOf)).map((record) => JSON.stringify({ account_id, at_ms, ...record }));
  const messages = Array.from({ length: Math.ceil(lines.length / LINES_PER_MESSAGE) }, (_, index) =>
    lines.slice(index * LINES_PER_MESSAGE, (index + 1) * LINES_PER_MESSAGE).join('\n'),
  );
  await Promise.all(
    messages.map((MessageBody) =>
      sqs.send(new SendMessageCommand({ QueueUrl: INGEST_URL, MessageBody, MessageGroupId: String(account_id) })),
    ),
  );
  const data = JSON.stringify({ data: { accepted: lines.length } });
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: data };
};
