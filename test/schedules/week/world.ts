/** A week's account, table, queues and clock. */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { reasonOf } from '../../../lib/ingest/problems.ts';
import type { IngestRecord } from '../../../lib/ingest/records.ts';
import { recordOf } from '../../../lib/ingest/records.ts';
import { PERMISSIONS } from '../../../lib/model/account.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { loadData } from '../../../packages/admin/data/load.ts';
import { streamRecord } from '../../../packages/admin/relay/stream-record.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import type { Change } from '../../table-double/table-double.ts';
import type { Commit, Schedule } from '../schedule.ts';
import { alerts, incidents, START_MS, type Week } from './plan.ts';
import { Bus, createTaker, type Message, Queue } from './queues.ts';

export const ACCOUNT = 1;
export const APP_KEYS = ['1'.repeat(32), '2'.repeat(32)] as const;
/** Time that a call to the table takes. */
const CALL_MS = 40;
/** When the rows were written that there are before the week. */
const SEED_MS = START_MS - 60_000;

/** A call of an operation, as it was answered. */
export interface Answer {
  operation: string;
  requestId: string;
  /** undefined: its process has died. */
  status: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the answer holds
  data: any;
  /** When it began, by the true clock. */
  startMs: number;
  /** How many commits there were when it began, and when it was answered. */
  commits: [before: number, after: number];
  appKey: number;
  fields: object;
}

/** A change as Lambda gets it from the table's stream. */
function toStreamRecord(index: number, atMs: number, { before, after }: Change): DynamoDBRecord {
  const { pk, sk } = (after ?? before) as { pk: string; sk: string };
  const imageOf = (row: object) => marshall(row, { convertClassInstanceToMap: true });
  return streamRecord({
    eventName: after ? (before ? 'MODIFY' : 'INSERT') : 'REMOVE',
    dynamodb: {
      ApproximateCreationDateTime: new Date(atMs),
      SequenceNumber: String(index),
      Keys: { pk: { S: pk }, sk: { S: sk } },
      ...(after && { NewImage: imageOf(after) }),
      ...(before && { OldImage: imageOf(before) }),
    },
  });
}

export async function createWorld(schedule: Schedule, { first, refuses }: Week) {
  const pauses: { at: number; ms: number }[] = [];
  const sumOf = (some: typeof pauses) => some.reduce((sum, { ms }) => sum + ms, 0);
  /** The time of a commit. @param call how many calls to the table had begun */
  const msAt = (call: number) => START_MS + CALL_MS * call + sumOf(pauses.filter(({ at }) => at < call));
  const nowMs = () => START_MS + CALL_MS * schedule.calls + sumOf(pauses);
  const taker = createTaker(refuses);
  const queue = (name: string) => new Queue(name, nowMs, taker);
  const queues = { feed: queue('feed'), merges: queue('merges'), events: queue('events'), refused: queue('refused') };

  const line = (fields: object) => stringifyJson({ account_id: ACCOUNT, ...fields });
  const lines = [
    line({ kind: 'account', name: 'Acme', permissions: [...PERMISSIONS] }),
    ...APP_KEYS.map((app_key) => line({ kind: 'app_key', app_key, created_at: 1 })),
    ...[1, 2, 3].map((member_id) => line({ kind: 'member', member_id, name: 'seed', at_ms: SEED_MS })),
    line({ kind: 'rum_resource', ...RUM_RECORD, offering_id: 1, at_ms: SEED_MS }),
    ...incidents.map((incident_id) => line({ kind: 'incident', incident_id, title: 'seed', at_ms: SEED_MS })),
    ...alerts.map((alert_id) => line({ kind: 'alert', alert_id, title: 'seed', at_ms: SEED_MS })),
  ];
  await loadData(schedule.table, 'seed', lines, { nowMs: SEED_MS });
  const seeded = lines
    .slice(3)
    .map((text, index) => ({ body: text, sentMs: SEED_MS, messageId: 'import', line: index + 4 }));
  for (const fields of first) queues.feed.put({ MessageBody: line(fields) });

  let streamed = 0;
  const stream: DynamoDBRecord[] = [];
  return {
    ...{ schedule, queues, taker, nowMs, msAt, pauses, line },
    bus: new Bus(taker),
    answers: [] as Answer[],
    exports: [] as { lines: string[]; commits: [number, number] }[],
    deadLetters: [] as string[],
    /** The position up to which the stream is relayed: at first, what was there before the week. */
    relayed: { upTo: schedule.commits.flatMap(({ changes }) => changes).length },
    /** The table's stream so far. */
    stream(): DynamoDBRecord[] {
      for (; streamed < schedule.commits.length; streamed += 1) {
        const { call, changes } = schedule.commits[streamed] as Commit;
        for (const change of changes) stream.push(toStreamRecord(stream.length, msAt(call), change));
      }
      return stream;
    },
    /** All records of the feed, in no order. */
    records: (): IngestRecord[] =>
      [...seeded, ...queues.feed.sent.flatMap(linesOf)].map(({ body, ...origin }) => {
        const found = recordOf(body, origin);
        if (!('record' in found)) throw new Error(`${reasonOf(found.problems)}: ${body}`);
        return found.record;
      }),
  };
}
export type World = Awaited<ReturnType<typeof createWorld>>;

const linesOf = ({ body, ...origin }: Message) =>
  body.split('\n').map((text, index) => ({ ...origin, body: text, line: index + 1 }));
