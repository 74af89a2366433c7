import { createDeps } from '../lib/deps.ts';
import { createQueueAge } from '../lib/ingest/queue-age.ts';
import { createEndSilentAlerts } from '../lib/ingest/silent-alerts.ts';
import { optionalVariable, requiredVariable } from '../lib/shared/settings.ts';

const deps = await createDeps({ connections: 0, patient: true });

export const handler = createEndSilentAlerts(
  deps,
  createQueueAge(
    {
      queueUrl: requiredVariable('INGEST_URL'),
      region: requiredVariable('AWS_REGION'),
      endpoint: optionalVariable('CLOUDWATCH_ENDPOINT'),
    },
    deps.now,
  ),
);
