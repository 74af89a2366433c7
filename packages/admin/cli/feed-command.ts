import { Option } from 'commander';
import { readAccount } from '../accounts/accounts.ts';
import { metricsText, QUEUE_NAMES, readFeedStatus } from '../feed/feed-status.ts';
import { accountsIn, refusalOf, replayOf } from '../feed/messages.ts';
import type { FeedQueue } from '../feed/queues.ts';
import { line, timeText } from '../text/printable.ts';
import { integer } from './arguments.ts';
import type { AdminCommand, ReadResult, Session, WriteResult, WritingSession } from './command.ts';
import { say } from './io.ts';
import { plainTable, recordsTable, startProgress } from './output.ts';
import { requireFeed } from './target.ts';

/** Seconds for which a message is hidden while it is replayed: after an interruption it can be replayed again. */
const HOLD_SECONDS = 300;
/** Maximum messages that one command replays. */
const MAX_REPLAYED = 1_000;

type ReplayOptions = { from: 'refused' | 'dead-letters' };

export function addFeedCommands(program: AdminCommand): void {
  const feed = program
    .command('feed')
    .explain('Show what the feed takes in and refuses', 'feed status --stack IncidentMonitoringRum');
  feed
    .command('status')
    .explain(
      'Show how many messages wait, their rate and age, refused records with the reasons, and dead letters',
      'feed status --stack IncidentMonitoringRum',
    )
    .addOption(new Option('--refused <count>', 'refused records to show').argParser(integer(0, 1_000)).default(10))
    .shows(showStatus);
  feed
    .command('replay')
    .explain(
      'Send refused records, or dead letters, to the feed again, with the times at which they were first sent. Only shows them unless --write is given.',
      'feed replay --from dead-letters --stack IncidentMonitoringRum',
    )
    .addOption(
      new Option('--from <queue>', 'what to send again').choices(['refused', 'dead-letters']).makeOptionMandatory(),
    )
    .option('--write', 'send them (default: only show them)')
    .reports('if --write', replay);
}

async function showStatus({ io, target, options }: Session<{ refused: number }>): Promise<ReadResult> {
  const feed = requireFeed(target);
  const { queues, ...metrics } = await readFeedStatus(feed, io.now());
  const refused =
    options.refused > 0 && queues.refused.waiting > 0
      ? (await feed.peek('refused', options.refused)).map(refusalOf)
      : [];
  const json = {
    queues,
    ...(metrics.rate !== undefined && { messages_per_second: metrics.rate }),
    ...(metrics.oldestSeconds !== undefined && { oldest_message_seconds: metrics.oldestSeconds }),
    refused_records: refused,
  };
  const text = () => {
    const counts = Object.entries(queues).map(([queue, { waiting, underWay }]) => ({
      queue: QUEUE_NAMES[queue as FeedQueue],
      waiting,
      'under way': underWay,
    }));
    const records = refused.map((refusal) => ({ ...refusal, sent_at: timeText(refusal.sent_at_ms) }));
    return [
      recordsTable(counts, ['queue', 'waiting', 'under way']),
      '',
      plainTable(metricsText(metrics)),
      ...(records.length > 0 ? ['', recordsTable(records, ['sent_at', 'reason', 'message_id', 'record'])] : []),
    ].join('\n');
  };
  return { json, text };
}

async function replay(session: WritingSession<ReplayOptions>): Promise<WriteResult> {
  const { io, target, table, options, audit, dryRun } = session;
  const feed = requireFeed(target);
  const queue = options.from === 'refused' ? 'refused' : 'deadLetters';
  const messages = dryRun ? await feed.peek(queue, MAX_REPLAYED) : await feed.take(queue, MAX_REPLAYED, HOLD_SECONDS);
  const replays = messages.map((message) => ({ message, ...replayOf(queue, message) }));
  const what = `${replays.length} ${QUEUE_NAMES[queue]}`;
  const json = { messages: replays.map(({ sentAtMs, body }) => ({ sent_at_ms: sentAtMs, body })) };
  if (dryRun) {
    const lines = replays.map(({ sentAtMs, body }) => line`${timeText(sentAtMs)} ${body}`);
    return { text: `${what} would be sent again.`, lines, json };
  }
  const accountIds = new Set(replays.flatMap(({ body }) => accountsIn(body)));
  const rows = await Promise.all([...accountIds].map((id) => readAccount(table, id)));
  const accounts = rows.flatMap((row) => row?.account_id ?? []);
  const progress = startProgress(io, 'replay', replays.length);
  await audit
    .around(accounts, what, async () => {
      for (const { body, group, message } of replays) {
        io.signal.throwIfAborted();
        await feed.send([{ body, group }]);
        await feed.remove(queue, message);
        progress.add(1);
      }
    })
    .finally(progress.end);
  if (replays.length >= MAX_REPLAYED) say(io, 'There may be more: run the same command again.');
  return { text: `${what} sent again.`, json };
}
