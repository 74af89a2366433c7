import { createHandler } from '../lib/operations/list-alerts/handler.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createHandler(await createDeps({ connections: 12 }));
