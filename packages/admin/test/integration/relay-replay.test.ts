import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it, onTestFinished } from 'vitest';
import { collections } from '../../../../lib/dynamodb/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { handlersOver, newTable, storedUnder, testDeps } from '../../../../test/support/service.ts';
import { recordsOf } from '../../../local/test/support/stream-records.ts';
import { createAudit } from '../../cli/audited.ts';
import { replayRelay } from '../../relay/replay-dead-letters.ts';

/** SQS with these letters, EventBridge and a stream of these records, in place of AWS: the environment says where. */
async function standIn(letters: object[], records: DynamoDBRecord[]) {
  const queue = new Map(letters.map((letter, index) => [String(index), JSON.stringify(letter)]));
  const sent: string[] = [];
  const details: { incident_id: string }[] = [];
  const answers: Record<string, (body: Record<string, unknown>) => object> = {
    ReceiveMessage: () => ({
      Messages: [...queue].map(([MessageId, Body]) => ({
        ...{ MessageId, ReceiptHandle: MessageId, Body, MD5OfBody: hash('md5', Body) },
      })),
    }),
    DeleteMessage: ({ ReceiptHandle }) => ({ deleted: queue.delete(String(ReceiptHandle)) }),
    SendMessageBatch: ({ Entries }) => ({
      Successful: (Entries as { Id: string; MessageBody: string }[]).map(({ Id, MessageBody }) => {
        sent.push(MessageBody);
        return { Id, MessageId: Id, MD5OfMessageBody: hash('md5', MessageBody) };
      }),
    }),
    PutEvents: ({ Entries }) => ({
      Entries: (Entries as { Detail: string }[]).map(({ Detail }) => {
        details.push(JSON.parse(Detail));
        return { EventId: 'e' };
      }),
    }),
    GetShardIterator: ({ ShardId }) =>
      ShardId === 'trimmed' ? { __type: 'TrimmedDataAccessException' } : { ShardIterator: 'i' },
    GetRecords: () => ({ Records: records }),
  };
  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const result = answers[action]?.(JSON.parse(await text(request))) ?? {};
    response.writeHead('__type' in result ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(result));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const before = { ...process.env };
  const own = { AWS_ENDPOINT_URL: url, AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
  Object.assign(process.env, own);
  onTestFinished(() => {
    for (const name of Object.keys(own))
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    server.closeAllConnections();
    server.close();
  });
  const place = {
    region: 'eu-west-1',
    eventBus: 'bus',
    mergeQueueUrl: `${url}/1/merges`,
    deadLettersUrl: `${url}/1/dead`,
  };
  return { queue, sent, details, place };
}

it('relays the records that dead letters contain or point to, and leaves letters whose records the stream no longer has', async () => {
  const table = await newTable({ stream: true });
  const tenant = await newAccount(table);
  const incidents = await Promise.all([1, 2, 3].map(() => tenant.incident()));
  for (const [index, incident_id] of incidents.entries()) {
    const body = { alert_ids: await tenant.alerts(index === 1 ? 120 : 1), incident_id };
    expectEnvelope(await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, body), 200);
  }
  const entryOf =
    (incident = '') =>
    (record: DynamoDBRecord) =>
      record.dynamodb?.NewImage?.kind !== undefined && record.dynamodb.Keys?.pk?.S?.endsWith(incident) === true;
  const records = await recordsOf(table);
  const [first, second, third] = incidents.map((id) => records.find(entryOf(id)) as DynamoDBRecord);
  const info = (shardId: string, record: DynamoDBRecord | undefined) => {
    const number = record?.dynamodb?.SequenceNumber;
    return { DDBStreamBatchInfo: { streamArn: 's', shardId, startSequenceNumber: number, endSequenceNumber: number } };
  };
  const letters = [info('there', second), { Records: [third] }, info('trimmed', first)];
  const { queue, sent, details, place } = await standIn(letters, [second as DynamoDBRecord, first as DynamoDBRecord]);
  expect(await replayRelay(table, place)).toEqual({ letters: 3, left: 1 });
  expect([queue.size, sent, details]).toEqual([3, [], []]);
  expect(await replayRelay(table, place, createAudit(table, 'relay replay', 'o', Date.now))).toEqual({
    letters: 3,
    left: 1,
  });
  expect([...queue.keys()]).toEqual(['2']);
  const audit = await storedUnder(table, collections.audit(tenant.account));
  expect(audit).toMatchObject([{ command: 'relay replay', by: 'o', result: 'done', target: '2 dead letters' }]);
  const { pk, sk } = second?.dynamodb?.Keys ?? {};
  expect(sent).toEqual([JSON.stringify({ pk: pk?.S, sk: sk?.S })]);
  expect(details.map(({ incident_id }) => incident_id)).toEqual([incidents[1], incidents[2]]);
});
