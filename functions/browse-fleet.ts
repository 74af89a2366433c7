import { browseFleet } from '../lib/api/operations.ts';
import { serve } from '../lib/api/serve.ts';
import validate from '../lib/api/validators/browse-fleet.ts';
import { createDeps } from '../lib/deps.ts';
import { createBrowse } from '../lib/fleet/browse.ts';

const deps = createDeps();

export const handler = serve(browseFleet, { validate, ...createBrowse(deps) }, deps);
