/**
 * The baseline of the functions of the feed that a careful user would write: it looks the app key up once, counts the records of an account
 * in each minute by a conditional call, makes a line of each record or alert, and sends them in as few messages; and of each message it puts a
 * row unless there is a later one. It checks no record, and of an alert only that it has its fields.
 */
import { createHash } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { keys } from '../../../lib/table/keys.ts';

const { DYNAMODB_ENDPOINT = '', INGEST_URL = '', TABLE_NAME } = process.env;
const { origin: endpoint, username: accessKeyId } = new URL(DYNAMODB_ENDPOINT);
const credentials = { accessKeyId, secretAccessKey: 'local' };
const table = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'local', credentials }));
const sqs = new SQSClient({ endpoint: new URL(INGEST_URL).origin, region: 'local', credentials });

const LINES_PER_MESSAGE = 1_000;
const MOST_A_MINUTE = 20_000_000;

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
  const alert_status = status === 'resolved' ? 'Ok' : 'Warning';
  return { kind: 'alert', alert_key: `alertmanager ${fingerprint}`, alert_status, title, labels };
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

const count = (account: number, atMs: number, records: number) =>
  table.send(
    new UpdateCommand({
      TableName: TABLE_NAME,
      Key: keys.rateCount(account, 'careful', Math.floor(atMs / 60_000)),
      UpdateExpression: 'ADD records :records',
      ConditionExpression: 'attribute_not_exists(records) OR records <= :most',
      ExpressionAttributeValues: { ':records': records, ':most': MOST_A_MINUTE - records },
    }),
  );

interface Call {
  body: string;
  queryStringParameters: { app_key: string };
}

async function send({ body, queryStringParameters }: Call) {
  const account_id = await accountOf(queryStringParameters.app_key);
  const at_ms = Date.now();
  const { records, alerts = [] } = JSON.parse(body) as { records?: object[]; alerts?: Alert[] };
  const lines = (records ?? alerts.map(recordOf)).map((record) => JSON.stringify({ account_id, at_ms, ...record }));
  await count(account_id, at_ms, lines.length);
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
}

async function ingest(messages: readonly { body: string }[]) {
  await Promise.all(
    messages.map(({ body }) => {
      const { kind, account_id, host_id, ...fields } = JSON.parse(body);
      const ConditionExpression = 'attribute_not_exists(pk) OR at_ms < :at';
      const Item = { ...keys.hostStatus(account_id, host_id), ...fields };
      const ExpressionAttributeValues = { ':at': fields.at_ms };
      return table.send(
        new PutCommand({ TableName: TABLE_NAME, Item, ConditionExpression, ExpressionAttributeValues }),
      );
    }),
  );
  return { batchItemFailures: [] };
}

export const handler = (event: Call | { Records: { body: string }[] }) =>
  'Records' in event ? ingest(event.Records) : send(event);
