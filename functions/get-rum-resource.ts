import { createDeps } from '../lib/deps.ts';
import { createGetRumResourceHandler } from '../lib/rum/resource.ts';

export const handler = createGetRumResourceHandler(await createDeps({ connections: 1 }));
