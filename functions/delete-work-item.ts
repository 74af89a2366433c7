import { createOperationHandler } from '../lib/api/operation-handler.ts';
import { deleteWorkItem } from '../lib/api/operations.ts';
import validate from '../lib/api/validators/delete-work-item.ts';
import { createDeps } from '../lib/deps.ts';
import { createDeleteWorkItem } from '../lib/incidents/delete-work-item.ts';

const deps = createDeps();

export const handler = createOperationHandler(deleteWorkItem, { validate, operate: createDeleteWorkItem(deps) }, deps);
