import { type RelayResources, replayRelay } from '../relay/replay-dead-letters.ts';
import { line } from '../text/printable.ts';
import type { AdminCommand, WritingSession } from './command.ts';
import { sentenceOf } from './command-errors.ts';
import { PartialError, UsageError } from './io.ts';
import type { Target } from './target.ts';

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
      const resources = resourcesOf(target);
      if (!resources) throw new UsageError('Only a deployed stack has these dead letters: pass --stack NAME.');
      const { letters, left } = await replayRelay(table, resources, dryRun ? undefined : audit.around);
      const stay = left.map(({ message_id, error }) => ({ message_id, reason: sentenceOf(error) }));
      const relayed = letters - left.length;
      const text = `${relayed} of ${letters} dead letters ${dryRun ? 'would be relayed' : 'relayed'}.`;
      const lines = stay.map(({ message_id, reason }) => line`Message ${message_id} stays: ${reason}`);
      const done = { lines, json: { relayed, left: stay } };
      if (stay.length > 0 && !dryRun) throw new PartialError(text, done);
      return { text, ...done };
    });
}

/** @returns undefined if the target is no stack */
function resourcesOf({ region, outputs }: Target): RelayResources | undefined {
  const names = ['RelayEventsUrl', 'MergeQueueUrl', 'RelayDeadLettersUrl'];
  const [eventsUrl, mergeQueueUrl, deadLettersUrl] = names.map((name) => outputs?.get(name));
  return eventsUrl && mergeQueueUrl && deadLettersUrl
    ? { region, eventsUrl, mergeQueueUrl, deadLettersUrl }
    : undefined;
}
