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

/** Lets the SDK of this process use an SQS with these dead letters, and a stream with these records. Nobody may publish on the bus. */
async function enterAws(letters: (object | string | null)[], records: DynamoDBRecord[]) {
  const queue = new Map(letters.map((letter, index) => [String(index), JSON.stringify(letter)]));
  const sent: string[] = [];
  const details: object[] = [];
  const { url, leave } = await enterJsonAws({
    ReceiveMessage: () => ({
      Messages: [...queue].map(([MessageId, Body]) => ({
        ...{ MessageId, ReceiptHandle: MessageId, Body, MD5OfBody: hash('md5', Body) },
      })),
    }),
    DeleteMessage: ({ ReceiptHandle }) => ({ deleted: queue.delete(String(ReceiptHandle)) }),
    SendMessageBatch: ({ Entries, QueueUrl }) => ({
      Successful: (Entries as { Id: string; MessageBody: string }[]).map(({ Id, MessageBody }) => {
        if (String(QueueUrl).endsWith('/events')) details.push(JSON.parse(MessageBody).detail);
        else sent.push(MessageBody);
        return { Id, MessageId: Id, MD5OfMessageBody: hash('md5', MessageBody) };
      }),
    }),
    PutEvents: () => ({ __type: 'AccessDeniedException' }),
    GetShardIterator: ({ ShardId }) =>
      String(ShardId).endsWith('Exception') ? { __type: ShardId } : { ShardIterator: ShardId },
    GetRecords: ({ ShardIterator }) => ({ Records: ShardIterator === 'kept' ? records : [] }),
  });
  onTestFinished(leave);
  const urls = { mergeQueueUrl: `${url}/1/merges`, eventsUrl: `${url}/1/events`, deadLettersUrl: `${url}/1/dead` };
  return { queue, sent, details, resources: { region: 'eu-west-1', ...urls } };
}

it('relays what dead letters contain or point to, and names each that stays, and why', async () => {
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
  const unreadable = {
    eventName: 'INSERT',
    dynamodb: { NewImage: { ...third?.dynamodb?.NewImage, alert_ids: { N: '1' } } },
  };
  const event = { type: 'AppKeyIssued', detail: { id: 'e', account_id: tenant.account, at_ms: 5 } };
  const letters = [
    letterAbout('kept', second),
    letterAbout('TrimmedDataAccessException', first),
    letterAbout('ResourceNotFoundException', first),
    letterAbout('AccessDeniedException', first),
    letterAbout('empty', first),
    { Records: [unreadable] },
    { Records: 5 },
    { Records: [{ dynamodb: { NewImage: { pk: {} } } }] },
    'no letter',
    null,
    { DDBStreamBatchInfo: null },
    { Records: [third] },
    event,
  ];
  const { queue, sent, details, resources } = await enterAws(letters, [second, first] as DynamoDBRecord[]);
  const gone = 'Its changes are no longer in the stream.';
  const none = 'It is no dead letter of relay.';
  const reasons = {
    ...{ 1: gone, 2: gone, 3: expect.stringContaining('denied'), 4: gone, 6: none },
    ...{ 7: expect.any(String), 8: none, 9: none, 10: expect.any(String) },
  };
  const leftFor = (of: object) => Object.entries(of).map(([message_id, reason]) => ({ message_id, reason }));
  expect(await replayRelay(table, resources)).toEqual({ letters: letters.length, left: leftFor(reasons) });
  expect([queue.size, sent, details]).toEqual([letters.length, [], []]);
  const { left } = await replayRelay(table, resources, createAudit(table, 'relay replay', 'o', Date.now));
  expect(left).toEqual([...leftFor(reasons), { message_id: '5', reason: 'Relaying failed again.' }]);
  expect([...queue.keys()].sort()).toEqual(left.map(({ message_id }) => message_id).sort());
  const audit = await storedUnder(table, collections.audit(tenant.account));
  expect(audit).toMatchObject([{ command: 'relay replay', by: 'o', result: 'done', target: '4 dead letters' }]);
  const { pk, sk } = second?.dynamodb?.Keys ?? {};
  expect(sent).toEqual([JSON.stringify({ pk: pk?.S, sk: sk?.S })]);
  expect(details).toMatchObject([{ incident_id: incidents[1] }, { incident_id: incidents[2] }, event.detail]);
});
