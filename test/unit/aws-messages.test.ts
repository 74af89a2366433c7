import { hash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { createDestinations } from '../../lib/events/destinations.ts';
import type { ServiceEvent } from '../../lib/events/event.ts';
import { connectQueues, refusalOf } from '../../lib/ingest/queues.ts';
import { keys } from '../../lib/table/keys.ts';
import { relayed } from '../support/events.ts';
import { serve } from '../support/serve.ts';
import { newDouble } from '../support/service.ts';

const incident = 'a'.repeat(24);
/** The record of a small feed entry. */
function entryRecord(sequence: number, more: Record<string, AttributeValue> = {}): DynamoDBRecord {
  const entry = { kind: 'merge', incident_id: incident, merge_id: `m${sequence}`, by: 'k', request_id: 'r' };
  const row = { ...keys.historyEntry(1, incident, sequence), ...entry, sequence, at_ms: 5 };
  const lists = { alert_ids: { B: '' }, other_ids: { B: '' } };
  const NewImage = { ...(marshall(row) as Record<string, AttributeValue>), ...lists, ...more };
  return { eventName: 'INSERT', dynamodb: { SequenceNumber: String(sequence), NewImage } };
}
/** An attribute of a form that nothing writes. */
const UNREADABLE = { alert_ids: { N: '1' } };
const records = [1, 2, 3].map((sequence) => entryRecord(sequence));
const sequenceOf = (what: string | ServiceEvent) => (typeof what === 'string' ? undefined : what.detail.sequence);

describe('relay', () => {
  it('reports the first record whose event was not accepted', async () => {
    expect((await relayed(newDouble(), records)).failures).toEqual([]);
    const { events, failures } = await relayed(newDouble(), records, (what) => sequenceOf(what) === 1);
    expect(events.map(sequenceOf)).toEqual([1]);
    expect(failures).toEqual(['2']);
  });

  it('sends a record that it cannot read to the dead letters, and goes on', async () => {
    const unreadableRecord = entryRecord(2, UNREADABLE);
    const { events, failures, merges, deadLetters, log } = await relayed(newDouble(), [
      entryRecord(1),
      unreadableRecord,
      entryRecord(3),
    ]);
    expect(events.map(sequenceOf)).toEqual([1, 3]);
    expect(failures).toEqual([]);
    expect([merges, deadLetters]).toEqual([[], [JSON.stringify({ Records: [unreadableRecord] })]]);
    expect(log.lines.map(({ message }) => message)).toEqual(['record cannot be relayed']);
    // A record that the dead letters do not accept either is reported.
    expect((await relayed(newDouble(), [unreadableRecord], () => false)).failures).toEqual(['2']);
  });

  it('escapes the characters of a dead letter that SQS refuses', async () => {
    const unreadableRecord = entryRecord(1, { ...UNREADABLE, comment: { S: '\ufffe \uffff 😀' } });
    const [letter = ''] = (await relayed(newDouble(), [unreadableRecord])).deadLetters;
    expect(letter).not.toMatch(/[\ufffe\uffff]/);
    expect(JSON.parse(letter)).toEqual({ Records: [unreadableRecord] });
  });
});

interface Entry {
  Id: string;
  MessageBody: string;
  Detail: string;
}
/** A server in place of SQS and EventBridge. @param answer makes the reply; if it returns undefined, the call fails */
const serveAws = (answer: (entries: Entry[]) => object | undefined | Promise<object>) =>
  serve(async (request, response) => {
    const { Entries } = JSON.parse(await text(request)) as { Entries: Entry[] };
    const result = await answer(Entries);
    response.writeHead(result ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(result ?? { __type: 'ValidationException', message: 'no' }));
  });
const accepted = ({ Id, MessageBody }: Entry) => ({ Id, MessageId: 'm', MD5OfMessageBody: hash('md5', MessageBody) });

/** SQS's maximum for the messages of a call. */
const MAX_CALL_BYTES = 1024 * 1024;

describe('a batch of messages or events', () => {
  const destinations = (endpoint: string) => createDestinations({ eventBus: 'bus', region: 'eu-west-1', endpoint });

  it('is sent ten in a call; if EventBridge accepts a call in part, the result says which events it accepted', async () => {
    const events = Array.from(
      { length: 12 },
      (_, index): ServiceEvent => ({
        type: 'MergeCompleted',
        detail: { id: String(index), at_ms: 5, account_id: 2n ** 60n },
      }),
    );
    const calls: Entry[][] = [];
    const endpoint = await serveAws((entries) => {
      calls.push(entries);
      const Entries = entries.map((_, index) => (index === 1 ? { ErrorCode: 'Throttling' } : { EventId: 'e' }));
      return { FailedEntryCount: 1, Entries };
    });
    const published = await destinations(endpoint).publish(events);
    expect(published).toEqual(events.map((_, index) => index !== 1 && index !== 11));
    expect(calls.map(({ length }) => length)).toEqual([10, 2]);
    expect(calls[0]?.[0]?.Detail).toBe('{"id":"0","at_ms":5,"account_id":1152921504606846976}');
  });

  it('is sent in calls of at most the 1 MiB that SQS takes', async () => {
    const calls: number[] = [];
    const endpoint = await serveAws((entries) => {
      calls.push(entries.length);
      const bytes = entries.map(({ MessageBody }) => Buffer.byteLength(MessageBody));
      return bytes.reduce((sum, size) => sum + size) > MAX_CALL_BYTES
        ? undefined
        : { Successful: entries.map(accepted) };
    });
    const bodies = Array.from({ length: 10 }, () => 'é'.repeat(150_000));
    const sent = await destinations(endpoint).send(`${endpoint}/1/queue`, [...bodies, 'é'.repeat(600_000), 'small']);
    expect(sent).toEqual([...bodies.map(() => true), false, true]);
    expect(calls.toSorted()).toEqual([1, 1, 1, 3, 3, 3]);
  });

  it('counts as not accepted where its call fails or SQS lists it as failed', async () => {
    const endpoint = await serveAws(([failed, ...others]) =>
      others.length === 9 ? undefined : { Successful: others.map(accepted), Failed: [{ Id: failed?.Id }] },
    );
    const sent = await destinations(endpoint).send(`${endpoint}/1/queue`, Array.from({ length: 12 }, String));
    expect(sent).toEqual([...Array(10).fill(false), false, true]);
  });
});

describe('a refused line', () => {
  const origin = { messageId: 'm1', sentMs: 5, group: '1', line: 7 };

  it('is sent as it came; its reason is cut to 4 KB of characters that SQS takes', () => {
    const { MessageBody, ...rest } = refusalOf(
      '{"\t\u{1f600}":1}\r',
      `\0\ud800\uffff${'\u{1f600}'.repeat(2_000)}`,
      origin,
    );
    const string = (StringValue: string) => ({ DataType: 'String', StringValue });
    const number = (StringValue: string) => ({ DataType: 'Number', StringValue });
    const reason = string(`\ufffd\ufffd\ufffd${'\u{1f600}'.repeat((4_096 - 9) >> 2)}`);
    expect([MessageBody, rest]).toEqual([
      '{"\t\u{1f600}":1}\r',
      {
        MessageGroupId: '1',
        MessageAttributes: { reason, message_id: string('m1'), sent_at_ms: number('5'), line: number('7') },
      },
    ]);
  });

  it('is sent with others in calls of at most 1 MiB with their attributes, several at a time; those that fail are told', async () => {
    const twoCallsAtOnce = Promise.withResolvers<void>();
    const calls: string[] = [];
    const endpoint = await serveAws(async (entries) => {
      calls.push(entries.map(({ MessageBody: [letter] }) => letter).join(''));
      if (calls.length === 2) twoCallsAtOnce.resolve();
      await twoCallsAtOnce.promise;
      return {
        Successful: entries.filter(({ MessageBody }) => MessageBody !== 'b').map(accepted),
        Failed: [{ Id: '1' }],
      };
    });
    const url = `${endpoint}/1/queue`;
    // Without their attributes, two of the large ones would be less than 1 MiB.
    const bodies = ['a', 'b', 'c'.repeat(521_000), 'd'.repeat(521_000), 'e'.repeat(1_008 * 1_024)];
    const refusals = bodies.map((body) => refusalOf(body, 'é'.repeat(2_048), origin));
    const taken = await connectQueues(url, url).refuse(refusals, new AbortController().signal);
    expect(taken).toEqual([true, false, true, true, true]);
    expect(calls.toSorted()).toEqual(['abc', 'd', 'e']);
  });

  it('is not sent after its time', async () => {
    const stop = new AbortController();
    const endpoint = await serveAws(() => {
      stop.abort();
      return new Promise(() => {});
    });
    const url = `${endpoint}/1/queue`;
    expect(await connectQueues(url, url).refuse([refusalOf('x', 'no', origin)], stop.signal)).toEqual([false]);
  });
});
