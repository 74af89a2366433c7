import { Option } from 'commander';
import { QUEUE_NAMES, readIngestStatus } from '../ingest/ingest-status.ts';
import type { QueueName } from '../ingest/queues.ts';
import { timeText } from '../text/printable.ts';
import { integer } from './arguments.ts';
import type { AdminCommand, ReadResult, Session } from './command.ts';
import { recordsTable } from './output.ts';
import { requireIngestQueues } from './target.ts';

export function addFeedCommands(program: AdminCommand): void {
  program
    .command('feed')
    .explain('Show what the feed takes in and refuses', 'feed status --stack IncidentMonitoringRum')
    .command('status')
    .explain(
      'Show how many messages wait, and refused records with the reasons',
      'feed status --stack IncidentMonitoringRum',
    )
    .addOption(new Option('--refused <count>', 'refused records to show').argParser(integer(0, 1_000)).default(10))
    .shows(showStatus);
}

async function showStatus({ target, options }: Session<{ refused: number }>): Promise<ReadResult> {
  const ingestQueues = requireIngestQueues(target);
  const queues = await readIngestStatus(ingestQueues);
  const refused =
    options.refused > 0 && queues.refused.waiting > 0 ? await ingestQueues.peekRefused(options.refused) : [];
  const text = () => {
    const counts = Object.entries(queues).map(([queue, { waiting, underWay }]) => ({
      queue: QUEUE_NAMES[queue as QueueName],
      waiting,
      'under way': underWay,
    }));
    const records = refused.map((refusal) => ({ ...refusal, sent_at: timeText(refusal.sent_at_ms) }));
    return [
      recordsTable(counts, ['queue', 'waiting', 'under way']),
      ...(records.length > 0 ? ['', recordsTable(records, ['sent_at', 'reason', 'message_id', 'record'])] : []),
    ].join('\n');
  };
  return { json: { queues, refused_records: refused }, text };
}
