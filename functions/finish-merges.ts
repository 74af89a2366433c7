import { createDeps } from '../lib/deps.ts';
import { createFinishMerges } from '../lib/operations/merge-alerts/finish.ts';

export const handler = createFinishMerges(await createDeps({ connections: 0, patient: true }));
