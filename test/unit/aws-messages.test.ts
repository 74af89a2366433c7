import { hash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { createDestinations } from '../../lib/events/destinations.ts';
import type { ServiceEvent } from '../../lib/events/event.ts';
import { connectQueues, type Refusal } from '../../lib/ingest/queues.ts';
import { keys } from '../../lib/table/keys.ts';
import { relayed } from '../support/events.ts';
import { serve } from '../support/serve.ts';
import { newDouble } from '../support/service.ts';

const incident = 'a'.repeat(24);
/** The record of a small feed entry. */
function entryRecord(sequence: number, more: Record<string, AttributeValue> = {}): DynamoDBRecord {
  const entry = { kind: 'merge', incident_id: incident, merge_id: `m${sequence}`, by: 'k', request_id: 'r' };
  const row = { ...keys.feedEntry(1, incident, sequence), ...entry, sequence, at_ms: 5 };
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
    const { events, failures, sent, log } = await relayed(newDouble(), [
      entryRecord(1),
      unreadableRecord,
      entryRecord(3),
    ]);
    expect(events.map(sequenceOf)).toEqual([1, 3]);
    expect(failures).toEqual([]);
    expect(sent).toEqual({ merges: [], deadLetters: [JSON.stringify({ Records: [unreadableRecord] })] });
    expect(log.lines.map(({ message }) => message)).toEqual(['record cannot be relayed']);
    // A record that the dead letters do not accept either is reported.
    expect((await relayed(newDouble(), [unreadableRecord], () => false)).failures).toEqual(['2']);
  });

  it('escapes the characters of a dead letter that SQS refuses', async () => {
    const unreadableRecord = entryRecord(1, { ...UNREADABLE, comment: { S: '\ufffe \uffff 😀' } });
    const { deadLetters: [letter = ''] = [] } = (await relayed(newDouble(), [unreadableRecord])).sent;
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
    expect(calls).toEqual([3, 3, 3, 1, 1, 1]);
  });

  it('counts as not accepted where its call fails or SQS lists it as failed', async () => {
    const endpoint = await serveAws(([failed, ...others]) =>
      others.length === 9 ? undefined : { Successful: others.map(accepted), Failed: [{ Id: failed?.Id }] },
    );
    const sent = await destinations(endpoint).send(`${endpoint}/1/queue`, Array.from({ length: 12 }, String));
    expect(sent).toEqual([...Array(10).fill(false), false, true]);
  });
});

const REFUSAL = { message_id: 'm1', sent_at_ms: 5, line: 1 };

/** A queue that takes refusals of ingest-records. @param beforeAnswer is awaited before each answer */
async function startRefusedQueue(beforeAnswer: () => unknown = () => {}) {
  const bodies: string[] = [];
  const endpoint = await serveAws(async (entries) => {
    bodies.push(...entries.map(({ MessageBody }) => MessageBody));
    await beforeAnswer();
    return { Successful: entries.map(accepted) };
  });
  const url = `${endpoint}/1/queue`;
  return { bodies, refuse: connectQueues(url, url).refuse };
}

describe('refusals of ingest-records', () => {
  it.each([
    ['record', { reason: 'is not valid JSON', record: '\u0001'.repeat(1_000_000) }],
    ['reason', { reason: 'x is not a field of this kind; '.repeat(100_000), record: '{}' }],
  ])('with a very long %s are cut to what SQS takes', async (_what, long) => {
    const { bodies, refuse } = await startRefusedQueue();
    await refuse([{ ...long, ...REFUSAL }]);

    const [body = ''] = bodies;
    expect(Buffer.byteLength(body)).toBeLessThan(MAX_CALL_BYTES);
    const { reason, record, ...rest } = JSON.parse(body) as Refusal;
    expect(rest).toEqual({ ...REFUSAL, cut: true });
    expect(long.reason.startsWith(reason) && reason.length > 0).toBe(true);
    expect(long.record.startsWith(record) && record.length > 0).toBe(true);
  });

  it('have characters that SQS refuses escaped', async () => {
    const { bodies, refuse } = await startRefusedQueue();
    const refusal = { ...REFUSAL, reason: '\ufffe\uffff is not a field of this kind', record: '{"\\uffff":1}' };
    await refuse([refusal]);
    expect(bodies[0]).not.toMatch(/[\ufffe\uffff]/);
    expect(JSON.parse(bodies[0] ?? '')).toEqual(refusal);
  });

  it('are sent by several calls at a time, since a batch can have a hundred thousand of them', async () => {
    const twoCallsAtOnce = Promise.withResolvers<void>();
    let calls = 0;
    const { bodies, refuse } = await startRefusedQueue(() => {
      calls += 1;
      if (calls === 2) twoCallsAtOnce.resolve();
      return twoCallsAtOnce.promise;
    });
    const lines = Array.from({ length: 25 }, (_, index) => index + 1);
    await refuse(lines.map((line) => ({ ...REFUSAL, line, reason: 'no', record: '{' })));
    const sent = bodies.map((body) => (JSON.parse(body) as Refusal).line ?? 0);
    expect(sent.toSorted((a, b) => a - b)).toEqual(lines);
  });
});
