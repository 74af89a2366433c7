import { createDeps } from '../lib/deps.ts';
import { connectIngestQueue } from '../lib/ingest/queues.ts';
import { createHandler } from '../lib/operations/send-records/handler.ts';
import { requiredVariable } from '../lib/shared/settings.ts';

const deps = await createDeps({ connections: 1 });

export const handler = createHandler(deps, {
  ingestQueue: connectIngestQueue(deps, requiredVariable('INGEST_URL'), requiredVariable('REFUSED_URL')),
});
