import { createDeleteWorkItemHandler } from '../lib/operations/delete-work-item/delete.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createDeleteWorkItemHandler(await createDeps({ connections: 1 }));
