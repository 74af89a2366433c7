import { replayRelay } from '../relay/replay-dead-letters.ts';
import type { AdminCommand, WritingSession } from './command.ts';

export function addRelayCommands(program: AdminCommand): void {
  program
    .command('relay')
    .explain('Manage the relay of events: docs/events.md', 'relay replay')
    .command('replay')
    .explain(
      'Relay again the large merges and events that are in the dead-letter queue of relay. The stream keeps changes for 24 hours; dead letters of older changes stay.',
      'relay replay --dry-run',
    )
    .writes(async ({ table, target, dryRun, audit }: WritingSession) => {
      if (!target.relay)
        return {
          text: 'Only a deployed stack has these dead letters: pass --stack NAME.',
          json: { relayed: 0, left: 0 },
        };
      const { letters, left } = await replayRelay(table, target.relay, dryRun ? undefined : audit);
      const stay =
        left > 0 ? `; ${left} stay: their changes are no longer in the stream, or relaying failed again` : '';
      const what = `${letters - left} of ${letters} dead letters`;
      return {
        text: `${what} ${dryRun ? 'would be relayed' : 'relayed'}${stay}.`,
        json: { relayed: letters - left, left },
      };
    });
}
