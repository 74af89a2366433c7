import { getRumResource } from '../lib/api/operations.ts';
import { serve } from '../lib/api/serve.ts';
import validate from '../lib/api/validators/get-rum-resource.ts';
import { createDeps } from '../lib/deps.ts';
import { createGetRumResource } from '../lib/rum/resource.ts';

const deps = createDeps();

export const handler = serve(getRumResource, { validate, operate: createGetRumResource(deps) }, deps);
