import { connectFeed } from '../lib/ingest/queues.ts';
import { createSendRecordsHandler } from '../lib/operations/send-records/send.ts';
import { createDeps } from '../lib/shared/deps.ts';
import { requiredVariable } from '../lib/shared/settings.ts';

const deps = await createDeps({ connections: 1 });

export const handler = createSendRecordsHandler(deps, connectFeed(deps, requiredVariable('FEED_URL')));
