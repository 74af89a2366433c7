import { createDeps } from '../lib/deps.ts';
import { createDeleteWorkItemHandler } from '../lib/incidents/delete-work-item.ts';

export const handler = createDeleteWorkItemHandler(await createDeps({ connections: 1 }));
