import { createDeps } from '../../lib/shared/deps.ts';
import { createGetWorkItemHandler } from './read.ts';

export const handler = createGetWorkItemHandler(await createDeps({ connections: 1 }));
