import { createHandler } from '../lib/operations/get-alert/handler.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createHandler(await createDeps({ connections: 1 }));
