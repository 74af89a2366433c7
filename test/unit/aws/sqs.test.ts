/** Batches of messages to SQS, and of events to EventBridge. */
import { hash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { createDestinations } from '../../../lib/events/destinations.ts';
import { connectQueues } from '../../../lib/ingest/queues.ts';
import { refusalOf } from '../../../lib/ingest/refusals.ts';
import { serve } from '../../support/serve.ts';

interface Entry {
  Id: string;
  MessageBody: string;
  Source: string;
  DetailType: string;
  Detail: string;
}
/** A server in place of SQS and EventBridge. @param answer makes the reply; if it returns undefined, the call fails */
const serveAws = (answer: (entries: Entry[]) => object | undefined) =>
  serve(async (request, response) => {
    const { Entries } = JSON.parse(await text(request)) as { Entries: Entry[] };
    const result = answer(Entries);
    response.writeHead(result ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(result ?? { __type: 'ValidationException', message: 'no' }));
  });
const accepted = ({ Id, MessageBody }: Entry) => ({ Id, MessageId: 'm', MD5OfMessageBody: hash('md5', MessageBody) });
const destinations = (endpoint: string) => createDestinations({ eventBus: 'bus', region: 'eu-west-1', endpoint });
const origin = { messageId: 'm1', sentMs: 5, group: '1', line: 7 };

it('events are sent ten in a call; if EventBridge accepts a call in part, the result says which it accepted', async () => {
  const calls: Entry[][] = [];
  const endpoint = await serveAws((entries) => {
    calls.push(entries);
    const Entries = entries.map((_, index) => (index === 1 ? { ErrorCode: 'Throttling' } : { EventId: 'e' }));
    return { FailedEntryCount: 1, Entries };
  });
  const events = Array.from({ length: 12 }, (_, index) => ({
    type: 'MergeCompleted',
    detail: { id: String(index), at_ms: 5_000, account_id: 2n ** 60n },
  }));
  const published = await destinations(endpoint).publish(events);
  expect(published).toEqual(events.map((_, index) => index !== 1 && index !== 11));
  expect(calls.map(({ length }) => length)).toEqual([10, 2]);
  const Detail = '{"id":"0","at_ms":5000,"account_id":1152921504606846976}';
  const Source = 'incident-monitoring-rum';
  expect(calls[0]?.[0]).toEqual({ EventBusName: 'bus', Source, DetailType: 'MergeCompleted', Time: 5, Detail });
});

it('events are sent in calls of fewer than 256 KB; one that EventBridge does not take for its size takes no others along', async () => {
  const calls: number[] = [];
  const endpoint = await serveAws((entries) => {
    calls.push(entries.length);
    // The documented size of an entry: 14 bytes of the time, source, type and detail.
    const sizes = entries.map(
      ({ Source, DetailType, Detail }) => 14 + Buffer.byteLength(`${Source}${DetailType}${Detail}`),
    );
    if (sizes.reduce((sum, size) => sum + size) >= 256 * 1024) return undefined;
    return { FailedEntryCount: 0, Entries: entries.map(() => ({ EventId: 'e' })) };
  });
  const event = (title: string) => ({ type: 'AlertsMerged', detail: { id: '0', at_ms: 5_000, title } });
  const titles = [...Array.from({ length: 10 }, () => 'é'.repeat(32_000)), 'é'.repeat(131_072), '', ''];
  const published = await destinations(endpoint).publish(titles.map(event));
  expect(published).toEqual(titles.map((title) => title.length !== 131_072));
  expect(calls).toEqual([4, 4, 2, 1, 2]);
});

it('messages are sent in calls of at most the 1 MiB that SQS takes; one that is too large, or refused, is told', async () => {
  const calls: number[] = [];
  const endpoint = await serveAws((entries) => {
    calls.push(entries.length);
    const bytes = entries.map(({ MessageBody }) => Buffer.byteLength(MessageBody));
    if (bytes.reduce((sum, size) => sum + size) > 2 ** 20) return undefined;
    const [refused, taken] = [entries.filter(isRefused), entries.filter((entry) => !isRefused(entry))];
    return { Successful: taken.map(accepted), Failed: refused.map(({ Id }) => ({ Id })) };
  });
  const isRefused = ({ MessageBody }: Entry) => MessageBody === 'refused';
  const large = Array.from({ length: 10 }, () => 'é'.repeat(150_000));
  const bodies = [...large, 'é'.repeat(600_000), 'refused', ...Array.from({ length: 11 }, String)];
  const messages = bodies.map((MessageBody) => ({ MessageBody }));
  const sent = await destinations(endpoint).send(`${endpoint}/1/queue`, messages);
  expect(sent).toEqual(bodies.map((body) => body.length !== 600_000 && body !== 'refused'));
  expect(calls.toSorted()).toEqual([1, 1, 10, 2, 3, 3, 3]);
});

it('a refused line is sent as it came; its reason is cut to 4 KB of characters that SQS takes', () => {
  const line = '{"\t\u{1f600}":1}\r';
  const attribute = (DataType: string, StringValue: string) => ({ DataType, StringValue });
  const reason = `\ufffd\ufffd\ufffd${'\u{1f600}'.repeat((4_096 - 9) >> 2)}`;
  expect(refusalOf(line, `\0\ud800\uffff${'\u{1f600}'.repeat(2_000)}`, origin)).toEqual({
    MessageBody: line,
    MessageGroupId: '1',
    MessageAttributes: {
      reason: attribute('String', reason),
      message_id: attribute('String', 'm1'),
      sent_at_ms: attribute('Number', '5'),
      line: attribute('Number', '7'),
    },
  });
});

it('refused lines are sent in calls of at most 1 MiB with their attributes, and not after their time', async () => {
  const calls: string[] = [];
  const endpoint = await serveAws((entries) => {
    calls.push(entries.map(({ MessageBody: [letter] }) => letter).join(''));
    return { Successful: entries.map(accepted) };
  });
  // With their attributes, the first three are one byte more than 1 MiB.
  const bodies = ['a', 'c'.repeat(518_057), 'd'.repeat(518_057), 'e'.repeat(1_008 * 1_024)];
  const refusals = bodies.map((body) => refusalOf(body, 'é'.repeat(2_048), origin));
  const { refuse } = connectQueues(`${endpoint}/1/queue`, `${endpoint}/1/queue`);
  expect(await refuse(refusals, new AbortController().signal)).toEqual([true, true, true, true]);
  expect(calls.toSorted()).toEqual(['ac', 'd', 'e']);
  expect(await refuse(refusals.slice(0, 1), AbortSignal.abort())).toEqual([false]);
});
