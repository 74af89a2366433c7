import type { AdminCommand, WritingSession } from './command.ts';
import { CliError, print, say } from './io.ts';

export function addRelayCommands(program: AdminCommand): void {
  program
    .command('relay')
    .explain('Manage what is told to others: docs/events.md', 'relay replay --stack IncidentMonitoringRum')
    .command('replay')
    .explain(
      'Relay again what ended in the dead letters of relay: large merges and events. The stream keeps changes for 24 hours; letters of older ones stay.',
      'relay replay --stack IncidentMonitoringRum --dry-run',
    )
    .writes(async ({ io, table, target, dryRun }: WritingSession) => {
      if (!target.relay) throw new CliError('The dead letters are not known here: pass --stack NAME.');
      const { replayRelay } = await import('../relay/replay.ts');
      const { letters, left } = await replayRelay(table, target.relay, dryRun);
      const stay = left > 0 ? `; ${left} stay: not in the stream any more, or not taken` : '';
      const what = `${letters - left} of ${letters} dead letters`;
      if (dryRun) say(io, `${what} would be relayed${stay}.`);
      else print(io, `${what} relayed${stay}.`);
    });
}
