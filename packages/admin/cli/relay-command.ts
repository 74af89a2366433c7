import { replayRelay } from '../relay/replay-dead-letters.ts';
import { line } from '../text/printable.ts';
import type { AdminCommand, WritingSession } from './command.ts';
import { sentenceOf } from './command-errors.ts';
import { PartialError, UsageError } from './io.ts';

export function addRelayCommands(program: AdminCommand): void {
  program
    .command('relay')
    .explain('Manage the relay of events: docs/events.md', 'relay replay --stack IncidentMonitoringRum')
    .command('replay')
    .explain(
      'Relay again the large merges and events that are in the dead-letter queue of relay. The stream keeps changes for 24 hours; dead letters of older changes stay, and are listed.',
      'relay replay --stack IncidentMonitoringRum --dry-run',
    )
    .writes(async ({ table, target, dryRun, audit }: WritingSession) => {
      if (!target.relay) throw new UsageError('Only a deployed stack has these dead letters: pass --stack NAME.');
      const { letters, left } = await replayRelay(table, target.relay, dryRun ? undefined : audit.around);
      const stay = left.map(({ message_id, error }) => ({ message_id, reason: sentenceOf(error) }));
      const relayed = letters - left.length;
      const text = `${relayed} of ${letters} dead letters ${dryRun ? 'would be relayed' : 'relayed'}.`;
      const lines = stay.map(({ message_id, reason }) => line`Message ${message_id} stays: ${reason}`);
      const done = { lines, json: { relayed, left: stay } };
      if (stay.length > 0 && !dryRun) throw new PartialError(text, done);
      return { text, ...done };
    });
}
