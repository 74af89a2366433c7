import { connectFeed } from '../lib/ingest/queues.ts';
import { createSendNotificationHandler } from '../lib/operations/send-notification/notify.ts';
import { createDeps } from '../lib/shared/deps.ts';
import { requiredVariable } from '../lib/shared/settings.ts';

const deps = await createDeps({ connections: 1 });

export const handler = createSendNotificationHandler(
  deps,
  connectFeed(deps, requiredVariable('FEED_URL'), requiredVariable('REFUSED_URL')),
);
