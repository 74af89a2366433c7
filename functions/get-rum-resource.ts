import { createHandler } from '../lib/operations/get-rum-resource/handler.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createHandler(await createDeps({ connections: 1 }));
