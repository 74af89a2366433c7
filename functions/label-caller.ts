import { createAppKeys } from '../lib/accounts/app-keys.ts';
import { createLabelCaller } from '../lib/accounts/label-caller.ts';
import { createDeps } from '../lib/deps.ts';

const deps = createDeps();
const sharedGatewayKey = process.env.SHARED_GATEWAY_KEY;
if (!sharedGatewayKey) throw new Error('SHARED_GATEWAY_KEY is required');

export const handler = createLabelCaller({
  appKeys: createAppKeys(deps, { lookUpMs: deps.timeLimits.authorizerMs }),
  deps,
  sharedGatewayKey,
});
