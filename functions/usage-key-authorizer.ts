import { createDeps } from '../lib/deps.ts';
import { createAppKeys } from '../lib/http/app-keys.ts';
import { createUsageKeyAuthorizer } from '../lib/http/usage-key-authorizer.ts';
import { requiredVariable } from '../lib/shared/settings.ts';

const deps = await createDeps({ connections: 1 });

export const handler = createUsageKeyAuthorizer(
  createAppKeys(deps, { lookupMs: deps.timeLimits.authorizerMs, recordsUse: !deps.settings.standby }),
  deps,
  requiredVariable('SHARED_GATEWAY_KEY'),
);
