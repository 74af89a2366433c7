import { createAppKeys } from '../lib/auth/app-keys.ts';
import { createUsageKeyAuthorizer } from '../lib/auth/usage-key-authorizer.ts';
import { createDeps } from '../lib/deps.ts';

const deps = createDeps();
const sharedGatewayKey = process.env.SHARED_GATEWAY_KEY;
if (!sharedGatewayKey) throw new Error('SHARED_GATEWAY_KEY is required');

export const handler = createUsageKeyAuthorizer({
  appKeys: createAppKeys(deps, { lookUpMs: deps.timeLimits.authorizerMs }),
  deps,
  sharedGatewayKey,
});
