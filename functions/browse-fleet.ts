import { createOperationHandler } from '../lib/api/operation-handler.ts';
import { browseFleet } from '../lib/api/operations.ts';
import validate from '../lib/api/validators/browse-fleet.ts';
import { createDeps } from '../lib/deps.ts';
import { createBrowse } from '../lib/fleet/browse.ts';

const deps = createDeps();

export const handler = createOperationHandler(browseFleet, { validate, ...createBrowse(deps) }, deps);
