import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { createDestinations } from '../../lib/events/destinations.ts';
import type { ServiceEvent } from '../../lib/events/event.ts';
import { relayed } from '../support/events.ts';
import { listen } from '../support/listen.ts';
import { newDouble } from '../support/service.ts';

const incident = 'a'.repeat(24);
/** The record of a small feed entry. */
function entryRecord(sequence: number, more: Record<string, AttributeValue> = {}): DynamoDBRecord {
  const entry = { kind: 'merge', incident_id: incident, merge_id: `m${sequence}`, by: 'k', request_id: 'r' };
  const row = { ...keys.feedEntry(1, incident, sequence), ...entry, sequence, at_ms: 5, moved: {}, stayed: [] };
  const NewImage = { ...(marshall(row) as Record<string, AttributeValue>), ...more };
  return { eventName: 'INSERT', dynamodb: { SequenceNumber: String(sequence), NewImage } };
}
/** Attributes of a form that no release writes. */
const UNREADABLE = { moved: { S: 'none' }, stayed: {} as AttributeValue };
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
    const bad = entryRecord(2, UNREADABLE);
    const { events, failures, sent, log } = await relayed(newDouble(), [entryRecord(1), bad, entryRecord(3)]);
    expect(events.map(sequenceOf)).toEqual([1, 3]);
    expect(failures).toEqual([]);
    expect(sent).toEqual({ merges: [], deadLetters: [JSON.stringify({ Records: [bad] })] });
    expect(log.lines.map(({ message }) => message)).toEqual(['record cannot be relayed']);
    // A record that the dead letters do not accept either is reported.
    expect((await relayed(newDouble(), [bad], () => false)).failures).toEqual(['2']);
  });

  it('escapes the characters of a dead letter that SQS refuses', async () => {
    const bad = entryRecord(1, { ...UNREADABLE, comment: { S: '\ufffe \uffff 😀' } });
    const { deadLetters: [letter = ''] = [] } = (await relayed(newDouble(), [bad])).sent;
    expect(letter).not.toMatch(/[\ufffe\uffff]/);
    expect(JSON.parse(letter)).toEqual({ Records: [bad] });
  });

  it('reports a large entry as failed while its other rows cannot be read yet', async () => {
    const large = entryRecord(2, { large: { BOOL: true }, alerts: { N: '9' } });
    const { failures, sent } = await relayed(newDouble(), [entryRecord(1), large]);
    expect(failures).toEqual(['2']);
    expect(sent.merges).toEqual([JSON.stringify(keys.feedEntry(1, incident, 2))]);
  });
});

describe('a batch of messages or events', () => {
  /** A server in place of AWS. */
  async function serving(answer: (target: string, body: Record<string, object[]>) => object | undefined) {
    const calls: [target: string, count: number][] = [];
    const server = createServer(async (request, response) => {
      const target = String(request.headers['x-amz-target']);
      const body = JSON.parse(await text(request));
      calls.push([target, body.Entries.length]);
      const result = answer(target, body);
      response.writeHead(result ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(result ?? { __type: 'ValidationException', message: 'no' }));
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const endpoint = `http://127.0.0.1:${await listen(server)}`;
    return { calls, endpoint, to: createDestinations({ eventBus: 'bus', region: 'eu-west-1', endpoint }) };
  }
  const events = Array.from(
    { length: 12 },
    (_, index): ServiceEvent => ({
      type: 'MergeCompleted',
      detail: { id: String(index), at_ms: 5, account_id: 2n ** 60n },
    }),
  );

  it('is sent ten in a call; if EventBridge accepts a call in part, the result says which events it accepted', async () => {
    const details: string[] = [];
    const { to, calls } = await serving((_target, { Entries = [] }) => {
      details.push(...Entries.map((entry) => (entry as { Detail: string }).Detail));
      return {
        FailedEntryCount: 1,
        Entries: Entries.map((_, index) => (index === 1 ? { ErrorCode: 'ThrottlingException' } : { EventId: 'e' })),
      };
    });
    const accepted = events.map((_, index) => index !== 1 && index !== 11);
    expect(await to.publish(events)).toEqual(accepted);
    expect(calls).toEqual([
      ['AWSEvents.PutEvents', 10],
      ['AWSEvents.PutEvents', 2],
    ]);
    expect(details[0]).toBe('{"id":"0","at_ms":5,"account_id":1152921504606846976}');
  });

  const takenBySqs = (entries: object[] = []) =>
    (entries as { Id: string; MessageBody: string }[]).map(({ Id, MessageBody }) => ({
      ...{ Id, MessageId: 'm' },
      MD5OfMessageBody: hash('md5', MessageBody),
    }));

  it('is sent in calls of at most the 1 MiB that SQS takes', async () => {
    const { to, endpoint, calls } = await serving((_target, { Entries = [] }) => {
      const bytes = (Entries as { MessageBody: string }[]).map(({ MessageBody }) => Buffer.byteLength(MessageBody));
      return bytes.reduce((sum, size) => sum + size) > 1024 * 1024 ? undefined : { Successful: takenBySqs(Entries) };
    });
    const bodies = Array.from({ length: 10 }, () => 'é'.repeat(150_000));
    expect(await to.send(`${endpoint}/1/queue`, [...bodies, 'é'.repeat(600_000), 'small'])).toEqual([
      ...bodies.map(() => true),
      false,
      true,
    ]);
    expect(calls.map(([, count]) => count)).toEqual([3, 3, 3, 1, 1, 1]);
  });

  it('counts as not accepted where its call fails or SQS lists it as failed', async () => {
    const { to, endpoint } = await serving((_target, { Entries = [] }) =>
      Entries.length === 10 ? undefined : { Successful: takenBySqs(Entries).slice(1), Failed: [{ Id: '10' }] },
    );
    const accepted = await to.send(`${endpoint}/1/queue`, Array.from({ length: 12 }, String));
    expect(accepted).toEqual([...Array(10).fill(false), false, true]);
  });
});
