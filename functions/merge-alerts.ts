import { createDeps } from '../lib/deps.ts';
import { createMergeAlertsHandler } from '../lib/incidents/merge-alerts.ts';

export const handler = createMergeAlertsHandler(await createDeps({ connections: 1 }));
