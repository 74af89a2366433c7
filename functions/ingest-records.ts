import { createDeps } from '../lib/deps.ts';
import { createIngestRecords } from '../lib/ingest/ingest.ts';
import { connectQueues } from '../lib/ingest/queues.ts';
import { requiredVariable } from '../lib/shared/settings.ts';

const queues = connectQueues(requiredVariable('INGEST_URL'), requiredVariable('REFUSED_URL'));

export const handler = createIngestRecords(await createDeps({ connections: 1, patient: true }), queues);
