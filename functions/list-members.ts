import { createDeps } from '../lib/deps.ts';
import { createHandler } from '../lib/operations/list-members/handler.ts';

export const handler = createHandler(await createDeps({ connections: 1 }));
