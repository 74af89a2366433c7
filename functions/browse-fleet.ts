import { createDeps } from '../lib/deps.ts';
import { createHandler } from '../lib/operations/browse-fleet/handler.ts';

export const handler = createHandler(await createDeps({ connections: 3 }));
