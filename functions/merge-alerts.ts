import { mergeAlerts } from '../lib/api/operations.ts';
import { serve } from '../lib/api/serve.ts';
import validate from '../lib/api/validators/merge-alerts.ts';
import { createDeps } from '../lib/deps.ts';
import { createMergeAlerts } from '../lib/incidents/merge-alerts.ts';

const deps = createDeps();

export const handler = serve(mergeAlerts, { validate, operate: createMergeAlerts(deps) }, deps);
