import { createGetRumResourceHandler } from '../lib/operations/get-rum-resource/resource.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createGetRumResourceHandler(await createDeps({ connections: 1 }));
