import type { AdminCommand, WritingSession } from './command.ts';
import { print, say } from './io.ts';

export function addRelayCommands(program: AdminCommand): void {
  program
    .command('relay')
    .explain('Manage what is told to others: docs/events.md', 'relay replay')
    .command('replay')
    .explain(
      'Relay again what ended in the dead letters of relay: large merges and events. The stream keeps changes for 24 hours; letters of older ones stay.',
      'relay replay --dry-run',
    )
    .writes(async ({ io, table, target, dryRun, audit }: WritingSession) => {
      if (!target.relay) return say(io, 'Only a deployed stack has these dead letters: pass --stack NAME.');
      const { replayRelay } = await import('../relay/replay.ts');
      const { letters, left } = await replayRelay(table, target.relay, dryRun ? undefined : audit);
      const stay = left > 0 ? `; ${left} stay: not in the stream any more, or not taken` : '';
      const what = `${letters - left} of ${letters} dead letters`;
      if (dryRun) say(io, `${what} would be relayed${stay}.`);
      else print(io, `${what} relayed${stay}.`);
    });
}
