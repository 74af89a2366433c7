/** What relay does with records that it cannot send or read. test/integration/events has the events. */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import type { ServiceEvent } from '../../../lib/events/event.ts';
import { createPublisher } from '../../../lib/events/relay.ts';
import { type Key, keys } from '../../../lib/table/keys.ts';
import { relayed } from '../../support/events.ts';
import { newDouble } from '../../support/service.ts';

/** The record of a small entry of a history. */
function entryRecord(sequence: number, more: Record<string, AttributeValue> = {}): DynamoDBRecord {
  const incident_id = 'a'.repeat(24);
  const entry = { kind: 'merge', incident_id, sequence, merge_id: `m${sequence}`, at_ms: 5, by: 'k', request_id: 'r' };
  const row = marshall({ ...keys.historyEntry(1, incident_id, sequence), ...entry }) as Record<string, AttributeValue>;
  const NewImage = { ...row, alert_ids: { B: '' }, other_ids: { B: '' }, ...more };
  return { eventName: 'INSERT', dynamodb: { SequenceNumber: String(sequence), NewImage } };
}
/** A record with an attribute of a form that nothing writes, and with characters that SQS refuses. */
const unreadable = entryRecord(2, { alert_ids: { N: '1' }, comment: { S: '\ufffe \uffff 😀' } });
const sequenceOf = (sent: Key | string | ServiceEvent) =>
  typeof sent === 'object' && 'detail' in sent ? sent.detail.sequence : undefined;

it('relay reports the first record whose event was not accepted', async () => {
  const records = [1, 2, 3].map((sequence) => entryRecord(sequence));
  const { events, failures } = await relayed(newDouble(), records, (sent) => sequenceOf(sent) === 1);
  expect([events.map(sequenceOf), failures]).toEqual([[1], ['2']]);
});

it('relay sends a record that it cannot read to the dead letters, without characters that SQS refuses, and goes on', async () => {
  const sent = await relayed(newDouble(), [entryRecord(1), unreadable, entryRecord(3)]);
  expect([sent.events.map(sequenceOf), sent.merges, sent.failures]).toEqual([[1, 3], [], []]);
  expect(sent.deadLetters.map((letter) => JSON.parse(letter))).toEqual([{ Records: [unreadable] }]);
  expect(sent.deadLetters[0]).not.toMatch(/[\ufffe\uffff]/);
  expect(sent.log.lines).toMatchObject([{ level: 'error' }]);
  // A record that the dead letters do not accept either is reported.
  expect((await relayed(newDouble(), [unreadable], () => false)).failures).toEqual(['2']);
});

it('the publisher reports each message whose event was not accepted', async () => {
  const publish = createPublisher(async (events) => events.map(({ type }) => type === 'a'));
  const Records = ['a', 'b', 'c'].map((type) => ({ messageId: `of ${type}`, body: `{"type":"${type}"}` }));
  expect(await publish({ Records } as never)).toEqual({
    batchItemFailures: [{ itemIdentifier: 'of b' }, { itemIdentifier: 'of c' }],
  });
});
