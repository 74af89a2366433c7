import { type RelayResources, replayRelay } from '../relay/replay-dead-letters.ts';
import { line } from '../text/printable.ts';
import type { AdminCommand, WritingSession } from './command.ts';
import { sentenceOf } from './command-errors.ts';
import type { Target } from './target.ts';

export function addRelayCommands(program: AdminCommand): void {
  program
    .command('relay')
    .explain('Manage the relay of events: docs/events.md', 'relay replay')
    .command('replay')
    .explain(
      'Relay again the large merges and events that are in the dead-letter queue of relay. The stream keeps changes for 24 hours; dead letters of older changes stay, and are listed.',
      'relay replay --dry-run',
    )
    .writes(async ({ table, target, dryRun, audit }: WritingSession) => {
      const resources = resourcesOf(target);
      if (!resources)
        return {
          text: 'Only a deployed stack has these dead letters: pass --stack NAME.',
          json: { relayed: 0, left: [] },
        };
      const { letters, left } = await replayRelay(table, resources, dryRun ? undefined : audit.around);
      const stay = left.map(({ message_id, error }) => ({ message_id, reason: sentenceOf(error) }));
      const relayed = letters - left.length;
      return {
        text: `${relayed} of ${letters} dead letters ${dryRun ? 'would be relayed' : 'relayed'}.`,
        lines: stay.map(({ message_id, reason }) => line`Message ${message_id} stays: ${reason}`),
        json: { relayed, left: stay },
      };
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
