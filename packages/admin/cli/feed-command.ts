import { Option } from 'commander';
import { readAccount } from '../accounts/accounts.ts';
import type { FeedQueue } from '../feed/queues.ts';
import { accountsIn, again, readReplay } from '../feed/replay.ts';
import { readFeedStatus, readMetrics, readRefused } from '../feed/status.ts';
import { line } from '../text/printable.ts';
import { timeText } from '../text/time-text.ts';
import { integer } from './arguments.ts';
import type { AdminCommand, Session, Shown, WritingSession } from './command.ts';
import { print, say } from './io.ts';
import { plainTable, recordsTable } from './output.ts';
import { startProgress } from './progress.ts';
import { requireFeed } from './target.ts';

const NAMES: Readonly<Record<FeedQueue, string>> = {
  feed: 'feed',
  refused: 'refused records',
  deadLetters: 'dead letters',
};
/** Until a message whose replay was cut short can be replayed again. */
const HOLD_SECONDS = 300;
const LOOK_SECONDS = 5;
/** At once. */
const MOST_REPLAYED = 1_000;

type ReplayOptions = { from: 'refused' | 'dead-letters'; write?: boolean };

export function addFeedCommands(program: AdminCommand): void {
  const feed = program
    .command('feed')
    .explain('Show what the feed takes in and refuses', 'feed status --stack IncidentMonitoringRum');
  feed
    .command('status')
    .explain(
      'Show how many messages wait, their rate and age, the records that were refused with their reasons, and dead letters',
      'feed status --stack IncidentMonitoringRum',
    )
    .addOption(new Option('--refused <count>', 'refused records to show').argParser(integer(0, 1_000)).default(10))
    .shows(showStatus);
  feed
    .command('replay')
    .explain(
      'Send refused records, or dead letters, to the feed again, as of when they were first sent. Only shows them unless --write is given.',
      'feed replay --from dead-letters --stack IncidentMonitoringRum',
    )
    .addOption(
      new Option('--from <queue>', 'what to send again').choices(['refused', 'dead-letters']).makeOptionMandatory(),
    )
    .option('--write', 'send them (default: only show them)')
    .runs(({ write }: ReplayOptions) => (write ? 'writes' : 'reads'), replay);
}

async function showStatus({ io, target, options }: Session<{ refused: number }>): Promise<Shown> {
  const feed = requireFeed(target);
  const metrics = target.endpoint === undefined && (() => readMetrics(feed.urls.feed, target.region, io.now()));
  const { queues, rate, oldestSeconds } = await readFeedStatus(feed, metrics || undefined);
  const refused = options.refused > 0 && queues.refused.waiting > 0 ? await readRefused(feed, options.refused) : [];
  const json = {
    queues,
    ...(rate !== undefined && { messages_per_second: rate }),
    ...(oldestSeconds !== undefined && { oldest_message_seconds: oldestSeconds }),
    refused_records: refused,
  };
  const text = () => {
    const counts = Object.entries(queues).map(([queue, { waiting, underWay }]) => ({
      ...{ queue: NAMES[queue as FeedQueue], waiting, 'under way': underWay },
    }));
    const known = (value: number | undefined, unit: string) =>
      value === undefined ? 'unknown: CloudWatch has it, for a deployed stack' : `${Number(value.toFixed(2))} ${unit}`;
    const facts = [
      ['rate, of the last five minutes', known(rate, 'messages a second')],
      ['oldest message', known(oldestSeconds, 'seconds')],
    ];
    const records = refused.map((one) => ({ ...one, sent_at: timeText(one.sent_at_ms) }));
    return [
      recordsTable(counts, ['queue', 'waiting', 'under way']),
      '',
      plainTable(facts),
      ...(records.length > 0 ? ['', recordsTable(records, ['sent_at', 'reason', 'message_id', 'line'])] : []),
    ].join('\n');
  };
  return { json, text };
}

async function replay(session: WritingSession<ReplayOptions>): Promise<void> {
  const { io, target, table, options, audit } = session;
  const feed = requireFeed(target);
  const queue = options.from === 'refused' ? 'refused' : 'deadLetters';
  if (!options.write) say(io, 'Dry run: nothing is sent. Pass --write to send.');
  const held = await readReplay(feed, queue, options.write ? HOLD_SECONDS : LOOK_SECONDS, MOST_REPLAYED);
  const what = `${held.length} ${NAMES[queue]}`;
  if (!options.write) {
    for (const { sentAtMs, body } of held) print(io, line`${timeText(sentAtMs)} ${body}`);
    return say(io, `${what} would be sent again.`);
  }
  const named = new Map(held.flatMap(({ body }) => accountsIn(body)).map((id) => [String(id), id]));
  const rows = await Promise.all([...named.values()].map((id) => readAccount(table, id)));
  const accounts = rows.flatMap((row) => row?.account_id ?? []);
  const progress = startProgress(io, 'replay', held.length);
  await audit
    .around(accounts, what, async () => {
      for (const { body, sentAtMs, message } of held) {
        io.signal.throwIfAborted();
        await feed.send([again(body, sentAtMs, message.Attributes?.MessageGroupId)]);
        await feed.remove(queue, message);
        progress.add(1);
      }
    })
    .finally(progress.end);
  print(io, `${what} sent again.`);
  if (held.length === MOST_REPLAYED) say(io, 'There may be more: run the same command again.');
}
