/** Reads the messages of the ingest queue. */
import type { SQSRecord } from 'aws-lambda';
import type { QueueMessage } from '../aws/sqs.ts';
import { exceededBound, isJsonObject, parseJson } from '../shared/json.ts';
import { MAX_DEPTH, MAX_LINE_BYTES } from './limits.ts';
import { reasonOf } from './problems.ts';
import { MAX_RECORDS } from './queues.ts';
import { type IngestRecord, recordOf } from './records.ts';
import { type MessageOrigin, refusalOf } from './refusals.ts';

export interface Message extends MessageOrigin {
  receiptHandle: string;
  /** How often the message was received, including this time. */
  receives: number;
  lines: Map<IngestRecord, Line>;
  refusals: QueueMessage[];
  /** The name of the first error, and how many records failed. */
  failure?: { error_name: string; records: number };
}

/** A line of a message: its number, counting from 1, and its text. */
export interface Line {
  message: Message;
  number: number;
  text: string;
}

export const refuse = ({ message, text, number }: Line, reason: string) =>
  message.refusals.push(refusalOf(text, reason, { ...message, line: number }));

export function messageOf({ messageId, receiptHandle, body, attributes }: SQSRecord): Message {
  const origin = { messageId, sentMs: Number(attributes.SentTimestamp), group: attributes.MessageGroupId };
  const receives = Number(attributes.ApproximateReceiveCount);
  const message: Message = { ...origin, receiptHandle, receives, lines: new Map(), refusals: [] };
  const lines = linesOf(body, MAX_RECORDS + 1).map((line) => ({ message, ...line }));
  if (lines.length === 0 || lines.length > MAX_RECORDS) {
    const reason = lines.length === 0 ? 'has no record' : `has more than ${MAX_RECORDS} records: send several messages`;
    message.refusals.push(refusalOf(body, reason, message));
    return message;
  }
  for (const line of lines) {
    const result = recordOf(withoutMark(line), { ...origin, line: line.number });
    if ('record' in result) message.lines.set(result.record, line);
    else refuse(line, reasonOf(result.problems));
  }
  return message;
}

/** Without the byte order mark that a body may begin with. */
const withoutMark = ({ number, text }: PlainLine) => (number === 1 ? text.replace(/^\ufeff/, '') : text);

/** Whether the lines of a body are one JSON object together. */
function isObjectOfLines(body: string): boolean {
  if (!body.includes('\n') || exceededBound(body, { levels: MAX_DEPTH })) return false; // to parse deep nesting takes much memory
  try {
    // The text of several objects fails after the first one.
    return isJsonObject(JSON.parse(withoutMark({ number: 1, text: body })));
  } catch {
    return false;
  }
}

type PlainLine = Pick<Line, 'number' | 'text'>;

/** The lines of a body that are not blank. A record that stands in several lines is one line. */
function linesOf(body: string, maxLines = Number.POSITIVE_INFINITY): PlainLine[] {
  if (isObjectOfLines(body)) return [{ number: 1, text: body }];
  const lines: PlainLine[] = [];
  for (let [start, number] = [0, 1]; start < body.length && lines.length < maxLines; number += 1) {
    const newline = body.indexOf('\n', start);
    const end = newline < 0 ? body.length : newline;
    const text = body.slice(start, end);
    if (text.trim() !== '') lines.push({ number, text });
    start = end + 1;
  }
  return lines;
}

/** What each line of a refused text says, as {@link messageOf} reads it; `undefined`: it is no JSON, or would take too much memory. */
export function* parsedLines(body: string): Generator<unknown> {
  for (const line of linesOf(body)) yield parsedOrUndefined(withoutMark(line));
}

function parsedOrUndefined(text: string): unknown {
  // A line that is not too long has fewer.
  if (exceededBound(text, { levels: MAX_LINE_BYTES, values: MAX_LINE_BYTES })) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
