import { createDeps } from '../lib/deps.ts';
import { createFinishMerges } from '../lib/incidents/finish-merges.ts';

export const handler = createFinishMerges(await createDeps({ connections: 0, patient: true }));
