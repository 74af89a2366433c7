import { createDeps } from '../lib/deps.ts';
import { createBrowseFleetHandler } from '../lib/fleet/browse.ts';

export const handler = createBrowseFleetHandler(await createDeps({ connections: 2 }));
