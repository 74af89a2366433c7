import { createMergeAlertsHandler } from '../lib/operations/merge-alerts/merge.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createMergeAlertsHandler(await createDeps({ connections: 1 }));
