import { createOperationHandler } from '../lib/api/operation-handler.ts';
import { getRumResource } from '../lib/api/operations.ts';
import validate from '../lib/api/validators/get-rum-resource.ts';
import { createDeps } from '../lib/deps.ts';
import { createGetRumResource } from '../lib/rum/resource.ts';

const deps = createDeps();

export const handler = createOperationHandler(getRumResource, { validate, operate: createGetRumResource(deps) }, deps);
