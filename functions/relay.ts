import { createDestinations } from '../lib/events/destinations.ts';
import { createRelay } from '../lib/events/relay.ts';
import { createDeps } from '../lib/shared/deps.ts';
import { optionalVariable, requiredVariable } from '../lib/shared/settings.ts';

export const handler = createRelay(
  await createDeps({ connections: 0, patient: true }),
  createDestinations({
    eventBus: requiredVariable('EVENT_BUS'),
    region: requiredVariable('AWS_REGION'),
    endpoint: optionalVariable('EVENTS_ENDPOINT'),
  }),
  { merges: requiredVariable('MERGE_QUEUE_URL'), deadLetters: requiredVariable('RELAY_DEAD_LETTERS_URL') },
);
