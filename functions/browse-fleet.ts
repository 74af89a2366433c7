import { createHandler } from '../lib/operations/browse-fleet/handler.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createHandler(await createDeps({ connections: 3 }));
