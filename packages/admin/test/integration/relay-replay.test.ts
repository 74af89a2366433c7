import { hash } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { partitions } from '../../../../lib/table/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { createHandlers, newTable, storedUnder, testDeps } from '../../../../test/support/service.ts';
import { recordsOf } from '../../../local/test/support/stream-records.ts';
import { enterFakeAws } from '../support/aws.ts';
import { runCommand } from '../support/run-admin.ts';

const table = await newTable({ stream: true });
const outputs: Record<string, string> = {};
const aws = await enterFakeAws({ Service: { outputs } });

interface Batch {
  Entries: { Id: string; MessageBody: string }[];
  QueueUrl: string;
}

it('relays what dead letters contain or point to, and names each that stays, and why', async () => {
  const tenant = await newAccount(table);
  const incidents = await Promise.all([1, 2, 3].map(() => tenant.incident()));
  for (const [index, incident_id] of incidents.entries()) {
    const body = { alert_ids: await tenant.alerts(index === 1 ? 120 : 1), incident_id };
    expectEnvelope(await tenant.merge(createHandlers(testDeps(table)).mergeAlerts, body), 200);
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
  const gone = 'Its changes are no longer in the stream.';
  const none = 'It is no dead letter of relay.';
  /** Letters, with the reason why one stays in the queue. */
  const letters: [letter: object | string | null, reason?: unknown][] = [
    [letterAbout('kept', second)],
    [letterAbout('TrimmedDataAccessException', first), gone],
    [letterAbout('ResourceNotFoundException', first), gone],
    [letterAbout('AccessDeniedException', first), expect.stringContaining('denied')],
    [letterAbout('empty', first), gone],
    [{ Records: 5 }, none],
    [null, none],
    [{ DDBStreamBatchInfo: null }, expect.any(String)],
    [{ Records: [third] }],
    [event],
    [{ Records: [unreadable] }],
  ];
  const left = letters.flatMap(([, reason], index) => (reason ? [{ message_id: String(index), reason }] : []));
  const queue = new Map(letters.map(([letter], index) => [String(index), JSON.stringify(letter)]));
  const sent: Record<string, unknown[]> = { merges: [], events: [] };
  const sentTo = (queueUrl: string) => sent[queueUrl.replace(/.*\//, '')];
  Object.assign(aws.replies, {
    ReceiveMessage: () => ({
      Messages: [...queue].map(([MessageId, Body]) => ({
        ...{ MessageId, ReceiptHandle: MessageId, Body, MD5OfBody: hash('md5', Body) },
      })),
    }),
    DeleteMessage: ({ ReceiptHandle }: { ReceiptHandle: string }) => ({ deleted: queue.delete(ReceiptHandle) }),
    SendMessageBatch: ({ Entries, QueueUrl }: Batch) => ({
      Successful: Entries.map(({ Id, MessageBody }) => {
        sentTo(QueueUrl)?.push(JSON.parse(MessageBody));
        return { Id, MessageId: Id, MD5OfMessageBody: hash('md5', MessageBody) };
      }),
    }),
    PutEvents: () => ({ __type: 'AccessDeniedException' }),
    GetShardIterator: ({ ShardId }: { ShardId: string }) =>
      ShardId.endsWith('Exception') ? { __type: ShardId } : { ShardIterator: ShardId },
    // The records are on the second page.
    GetRecords: ({ ShardIterator }: { ShardIterator: string }) => ({
      Records: ShardIterator === 'next' ? [second, first] : [],
      NextShardIterator: ShardIterator === 'kept' ? 'next' : undefined,
    }),
  });
  const urlOf = (name: string) => `${aws.url}/1/${name}`;
  Object.assign(outputs, {
    ...{ TableName: table.name, AccountPlanId: 'plan', RelayDeadLettersUrl: urlOf('dead') },
    ...{ MergeQueueUrl: urlOf('merges'), RelayEventsUrl: urlOf('events') },
  });
  const replay = async (option: string) => {
    const args = ['relay', 'replay', '--stack', 'Service', '--region', 'eu-west-1', '--json', option];
    const { exitCode, out, err } = await runCommand(args);
    return { exitCode, err, ...JSON.parse(out) };
  };
  expect(await replay('--dry-run')).toMatchObject({ exitCode: 0, relayed: 4, left });
  expect([queue.size, sent]).toEqual([letters.length, { merges: [], events: [] }]);
  const all = [...left, { message_id: '10', reason: 'Relaying failed again.' }];
  const err = expect.stringContaining('3 of 11 dead letters relayed.\n');
  expect(await replay('--yes')).toMatchObject({ exitCode: 1, err, relayed: 3, left: all });
  expect([...queue.keys()]).toEqual(all.map(({ message_id }) => message_id));
  const audit = await storedUnder(table, partitions.audit(tenant.account));
  expect(audit).toMatchObject([{ command: 'relay replay', result: 'done', target: '4 dead letters' }]);
  const { pk, sk } = second?.dynamodb?.Keys ?? {};
  const details = [{ incident_id: incidents[1] }, { incident_id: incidents[2] }, event.detail];
  expect(sent).toMatchObject({ merges: [{ pk: pk?.S, sk: sk?.S }], events: details.map((detail) => ({ detail })) });
});
