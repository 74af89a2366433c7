import { createBrowseFleetHandler } from '../lib/operations/browse-fleet/browse.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createBrowseFleetHandler(await createDeps({ connections: 3 }));
