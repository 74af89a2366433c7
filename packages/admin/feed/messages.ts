/** Records as messages of the feed. */
import { stringifyJson } from '../../../lib/shared/json.ts';

/** SQS bills each 64 KB of a message as a request. */
const MAX_MESSAGE_BYTES = 60_000;
/** Maximum lines of a message. */
const MAX_LINES = 1_000;

/** A message: an account's records, one a line. SQS delivers the messages of one group, an account's, without delaying others. */
export interface FeedMessage {
  readonly body: string;
  readonly group?: string | undefined;
}

/** Packs the records of an account into as few messages as SQS bills for. */
export function* messagesOf(group: string, records: Iterable<object>): Generator<FeedMessage> {
  let lines: string[] = [];
  let bytes = 0;
  for (const record of records) {
    const line = stringifyJson(record);
    const lineBytes = Buffer.byteLength(line) + 1;
    if (lines.length === MAX_LINES || (lines.length > 0 && bytes + lineBytes > MAX_MESSAGE_BYTES)) {
      yield { body: lines.join('\n'), group };
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += lineBytes;
  }
  if (lines.length > 0) yield { body: lines.join('\n'), group };
}
