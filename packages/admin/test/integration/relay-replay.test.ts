import { hash } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it, onTestFinished } from 'vitest';
import { collections } from '../../../../lib/table/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { handlersOver, newTable, storedUnder, testDeps } from '../../../../test/support/service.ts';
import { recordsOf } from '../../../local/test/support/stream-records.ts';
import { createAudit } from '../../cli/audit-trail.ts';
import { replayRelay } from '../../relay/replay-dead-letters.ts';
import { enterJsonAws } from '../support/aws.ts';

/** Lets the SDK of this process use an SQS with these dead letters, an EventBridge, and a stream with these records. */
async function enterAws(letters: object[], records: DynamoDBRecord[]) {
  const queue = new Map(letters.map((letter, index) => [String(index), JSON.stringify(letter)]));
  const sent: string[] = [];
  const details: { incident_id: string }[] = [];
  const { url, leave } = await enterJsonAws({
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
  });
  onTestFinished(leave);
  const urls = { mergeQueueUrl: `${url}/1/merges`, deadLettersUrl: `${url}/1/dead` };
  return { queue, sent, details, resources: { region: 'eu-west-1', eventBus: 'bus', ...urls } };
}

it('relays the records that dead letters contain or point to, and leaves letters whose records the stream no longer has, and what is no letter', async () => {
  const table = await newTable({ stream: true });
  const tenant = await newAccount(table);
  const incidents = await Promise.all([1, 2, 3].map(() => tenant.incident()));
  for (const [index, incident_id] of incidents.entries()) {
    const body = { alert_ids: await tenant.alerts(index === 1 ? 120 : 1), incident_id };
    expectEnvelope(await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, body), 200);
  }
  const entries = (await recordsOf(table)).filter(({ dynamodb }) => dynamodb?.NewImage?.kind !== undefined);
  const [first, second, third] = incidents.map((id) =>
    entries.find(({ dynamodb }) => dynamodb?.Keys?.pk?.S?.endsWith(id)),
  );
  const letterAbout = (shardId: string, record: DynamoDBRecord | undefined) => {
    const number = record?.dynamodb?.SequenceNumber;
    return { DDBStreamBatchInfo: { streamArn: 's', shardId, startSequenceNumber: number, endSequenceNumber: number } };
  };
  const letters = [letterAbout('kept', second), { Records: [third] }, letterAbout('trimmed', first)];
  const { queue, sent, details, resources } = await enterAws(letters, [
    second as DynamoDBRecord,
    first as DynamoDBRecord,
  ]);
  queue.set('strange', 'no letter');
  const counts = { letters: 4, left: 2 };
  expect(await replayRelay(table, resources)).toEqual(counts);
  expect([queue.size, sent, details]).toEqual([4, [], []]);
  expect(await replayRelay(table, resources, createAudit(table, 'relay replay', 'o', Date.now))).toEqual(counts);
  expect([...queue.keys()]).toEqual(['2', 'strange']);
  const audit = await storedUnder(table, collections.audit(tenant.account));
  expect(audit).toMatchObject([{ command: 'relay replay', by: 'o', result: 'done', target: '2 dead letters' }]);
  const { pk, sk } = second?.dynamodb?.Keys ?? {};
  expect(sent).toEqual([JSON.stringify({ pk: pk?.S, sk: sk?.S })]);
  expect(details.map(({ incident_id }) => incident_id)).toEqual([incidents[1], incidents[2]]);
});
