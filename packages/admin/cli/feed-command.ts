import type { Int64 } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import type { RecordWrites } from '../accounts/audit-rows.ts';
import type { ClearAction } from '../ingest/clear-refused.ts';
import { moveFeed } from '../ingest/move-feed.ts';
import type { QueueCounts } from '../ingest/queues.ts';
import { QUEUES, queueRows, REFUSED } from '../tables/feed.ts';
import { countText, line } from '../text/printable.ts';
import { tableOf } from '../text/table.ts';
import { accountId, duration, integer } from './arguments.ts';
import type { AdminCommand, ReadResult, Session, WriteResult, WritingSession } from './command.ts';
import { CliError, PartialError, UsageError } from './io.ts';
import { connectOther, type OtherRegionOptions, whyNotFenced, withOtherRegion } from './other-region.ts';
import { requireIngestQueues } from './target.ts';

export function addFeedCommands(program: AdminCommand): void {
  const feed = program
    .command('feed')
    .explain(
      'Show what the feed takes in and refuses, and clear what it has refused',
      'feed status --stack IncidentMonitoringRum',
      'feed redrive --account 42 --stack IncidentMonitoringRum --dry-run',
    );
  feed
    .command('status')
    .explain(
      'Show how many messages wait, and refused records with the reasons',
      'feed status --stack IncidentMonitoringRum',
    )
    .option('--refused <count>', 'refused records to show', integer(0, 1_000), 10)
    .shows(showStatus);

  withFilter(
    feed
      .command('redrive')
      .explain(
        'Send refused records to the feed again, as they came. One without at_ms gets the time of this. What was refused of calls over HTTPS stays: it can only be dropped.',
        'feed redrive --account 42 --reason "does not exist" --stack IncidentMonitoringRum --dry-run',
        'feed redrive --all --stack IncidentMonitoringRum',
      ),
  ).writes((session: WritingSession<FilterOptions>) => clear(session, 'redrive'));

  withFilter(
    feed
      .command('drop')
      .explain(
        'Delete refused records. Nothing brings them back.',
        'feed drop --account 42 --since 10d --until 3d --stack IncidentMonitoringRum --dry-run',
      ),
  ).writes((session: WritingSession<FilterOptions>) => clear(session, 'drop'));

  withOtherRegion(feed.command('move'))
    .explain(
      'Move what waits in the feed of a region that is fenced to the feed of this one, with the time sent as at_ms where a record has none',
      'feed move --stack IncidentMonitoringRum --region eu-central-1 --from eu-west-1 --dry-run',
    )
    .writes(move);
}

type MoveSession = WritingSession<OtherRegionOptions>;

/** Into a standby, too: it is read once that takes over. */
async function move(session: MoveSession): Promise<WriteResult> {
  const { io, target, options, dryRun } = session;
  const other = await connectOther(session);
  if ('silence' in other) throw new CliError(`${options.from} does not answer: ${other.silence}`);
  try {
    const unfenced = await whyNotFenced(other);
    if (unfenced && !dryRun) throw new CliError(`${options.from} ${unfenced}: its feed is read there.`);
    const [from, to] = [requireIngestQueues(other), requireIngestQueues(target)];
    const { waiting: count } = (await from.counts()).ingest;
    if (dryRun) return { text: `${countText(count, 'message')} would be moved.`, json: { messages: count } };
    const audited = new Set<Int64>();
    const around = async (accounts: readonly Int64[], change: () => Promise<void>) => {
      const others = accounts.filter((account) => !audited.has(account));
      for (const account of others) audited.add(account);
      await aroundExisting(session)(others, `messages of ${options.from}`, change);
    };
    const messages = await moveFeed(from.feed, to.feed, around, io.signal);
    const { underWay } = (await from.counts()).ingest;
    const text = `${countText(messages, 'message')} moved.`;
    const json = { messages, left: underWay };
    if (underWay === 0) return { text, json };
    throw new PartialError(`${text} In flight there: ${underWay}. Run this again after six minutes.`, { json });
  } finally {
    other.close();
  }
}

interface FilterOptions {
  account?: Int64;
  reason?: string;
  since?: number;
  until?: number;
  all?: boolean;
}

const withFilter = (command: AdminCommand) =>
  command
    .option('--account <account>', 'only those of this account, which need not exist', accountId)
    .option('--reason <text>', 'only those whose reason contains this')
    .option('--since <duration>', 'only those sent since then, such as 1h', duration)
    .option('--until <duration>', 'only those sent before then, such as 10m', duration)
    .option('--all', 'all of them')
    .allows('new accounts');

const DONE: Readonly<Record<ClearAction, string>> = { redrive: 'sent to the feed again', drop: 'dropped' };
const MAX_LINES = 20;

/** Makes a change with audit rows of those accounts that exist: the rows of others would be a finding of `check`. */
const aroundExisting =
  ({ table, audit }: Pick<WritingSession, 'table' | 'audit'>): RecordWrites =>
  async (accounts, target, change) => {
    const { rows } = await batchGet(table, accounts.map(keys.account), { attributes: ['account_id'] });
    const existing = accounts.filter((id) => rows.of(keys.account(id)));
    return audit.around(existing, target, change);
  };

async function clear(session: WritingSession<FilterOptions>, action: ClearAction): Promise<WriteResult> {
  const { io, target, options, dryRun } = session;
  const { account, reason = '', since, until = 0, all } = options;
  const hasFilter = [account, options.reason, since, options.until].some((given) => given !== undefined);
  if (hasFilter === (all ?? false))
    throw new UsageError('Pass --account, --reason, --since or --until to choose records, or --all.');
  const nowMs = io.now();
  const fromMs = since === undefined ? 0 : nowMs - since;
  const { meant, onlyDroppable, failed } = await requireIngestQueues(target).clearRefused({
    action,
    isMeant: (refusal) =>
      (account === undefined || refusal.account === account) &&
      refusal.reason.toLowerCase().includes(reason.toLowerCase()) &&
      refusal.sent_at_ms >= fromMs &&
      refusal.sent_at_ms <= nowMs - until,
    untilMs: nowMs,
    signal: io.signal,
    ...(!dryRun && { around: aroundExisting(session) }),
  });
  const count = meant.reduce((sum, group) => sum + group.count, 0);
  const shown = meant.slice(0, MAX_LINES).map(({ account_id, reason: why, count: some }) => {
    const ofAccount = account_id === undefined ? 'of no or several accounts' : `of account ${account_id}`;
    return line`${some.toLocaleString('en')} ${ofAccount}: ${why}`;
  });
  const more = meant.length > MAX_LINES ? [`and ${countText(meant.length - MAX_LINES, 'other reason')}`] : [];
  const droppableText =
    onlyDroppable > 0 ? ` ${onlyDroppable.toLocaleString('en')} of calls over HTTPS can only be dropped.` : '';
  const text = `${countText(count, 'refused record')} ${dryRun ? 'would be ' : ''}${DONE[action]}.${droppableText}`;
  const done = { lines: [...shown, ...more], json: { records: meant, count, only_droppable: onlyDroppable } };
  if (failed > 0)
    throw new PartialError(`${text} SQS did not take ${failed}, which stay: run the same command again.`, done);
  return { text, ...done };
}

async function showStatus({ target, options }: Session<{ refused: number }>): Promise<ReadResult> {
  const ingestQueues = requireIngestQueues(target);
  const queues = await ingestQueues.counts();
  const refused =
    options.refused > 0 && queues.refused.waiting > 0 ? await ingestQueues.peekRefused(options.refused) : [];
  const countsOf = ({ waiting, underWay: under_way }: QueueCounts['refused']) => ({ waiting, under_way });
  return {
    json: {
      queues: { feed: countsOf(queues.ingest), refused: countsOf(queues.refused) },
      refused_records: refused,
    },
    show: [tableOf(QUEUES, queueRows(queues)), ...(refused.length > 0 ? [tableOf(REFUSED, refused)] : [])],
  };
}
