import { createOperationHandler } from '../lib/api/operation-handler.ts';
import { mergeAlerts } from '../lib/api/operations.ts';
import validate from '../lib/api/validators/merge-alerts.ts';
import { createDeps } from '../lib/deps.ts';
import { createMergeAlerts } from '../lib/incidents/merge-alerts.ts';

const deps = createDeps();

export const handler = createOperationHandler(mergeAlerts, { validate, operate: createMergeAlerts(deps) }, deps);
