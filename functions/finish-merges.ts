import { createFinishMerges } from '../lib/operations/merge-alerts/finish.ts';
import { createDeps } from '../lib/shared/deps.ts';

export const handler = createFinishMerges(await createDeps({ connections: 0, patient: true }));
