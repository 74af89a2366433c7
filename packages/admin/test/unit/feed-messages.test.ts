import { describe, expect, it } from 'vitest';
import { accountsIn, messagesOf, replayOf } from '../../feed/messages.ts';

describe('messages of the feed', () => {
  it.each([
    ['hold at most 1,000 lines', 2_500, {}, [1_000, 1_000, 500]],
    ['are no larger than what SQS bills as one request', 10, { title: 'é'.repeat(10_000) }, [2, 2, 2, 2, 2]],
    ['hold a single line if it is larger than that', 2, { title: 'x'.repeat(100_000) }, [1, 1]],
    ['are not made for no records', 0, {}, []],
  ])('%s', (_what, count, fields, lines) => {
    const records = Array.from({ length: count }, () => fields);
    const messages = [...messagesOf('42', records)].map(({ body, group }) => [group, body.split('\n').length]);
    expect(messages).toEqual(lines.map((length) => ['42', length]));
  });
});

describe('a replay', () => {
  const deadLetter = (Body: string) =>
    replayOf('deadLetters', { Body, Attributes: { SentTimestamp: '5', MessageGroupId: '42' } });

  it.each<[what: string, record: object, again: object]>([
    ['gives a record without a time the time of its message', { kind: 'host' }, { kind: 'host', at_ms: 5 }],
    ['keeps the time of a record', { kind: 'host', at_ms: 3 }, { kind: 'host', at_ms: 3 }],
    [
      'gives a snapshot the time of its message as its time of receipt',
      { kind: 'host_status', node_count: 1 },
      { kind: 'host_status', node_count: 1, at_ms: 5, received_at_ms: 5 },
    ],
    [
      'gives a report without a snapshot no time of receipt',
      { kind: 'host_status', health_at_ms: 4 },
      { kind: 'host_status', health_at_ms: 4, at_ms: 5 },
    ],
  ])('%s', (_what, record, again) => {
    const { body, group, sentAtMs } = deadLetter(JSON.stringify(record));
    expect([JSON.parse(body), group, sentAtMs]).toEqual([again, '42', 5]);
  });

  it('keeps integers exact, and does not change lines that are not records', () => {
    const lines = ['not JSON', '[]', '{"account_id":9007199254740993}'];
    const { body } = deadLetter(lines.join('\n'));
    expect(body.split('\n')).toEqual([...lines.slice(0, 2), '{"account_id":9007199254740993,"at_ms":5}']);
    expect(accountsIn(body)).toEqual([9007199254740993n]);
  });

  it('of a refused record has the time at which the record was first sent', () => {
    const refusal = { reason: 'r', message_id: 'm', sent_at_ms: 3, line: 1, record: '{"kind":"host"}' };
    const message = { Body: JSON.stringify(refusal), Attributes: { SentTimestamp: '5' } };
    expect(replayOf('refused', message)).toEqual({ body: '{"kind":"host","at_ms":3}', group: undefined, sentAtMs: 3 });
  });
});

it('messages escape the characters of a record that SQS refuses', () => {
  const record = { kind: 'work_item', account_id: 1, title: '\ufffe\uffff' };
  const [packed] = messagesOf('1', [record]);
  const Body = JSON.stringify(record).replace('\ufffe', '\\ufffe').replace('\uffff', '\\uffff');
  const replayed = replayOf('deadLetters', { Body, Attributes: { SentTimestamp: '5' } });
  for (const body of [packed?.body ?? '', replayed.body]) {
    expect(body).not.toMatch(/[\ufffe\uffff]/);
    expect(JSON.parse(body)).toMatchObject(record);
  }
});
