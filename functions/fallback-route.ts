import { createFallbackRoute } from '../lib/http/fallback-route.ts';
import { createLog } from '../lib/shared/log.ts';
import { optionalVariable, requiredVariable } from '../lib/shared/settings.ts';

const allowedMethods = JSON.parse(requiredVariable('ALLOWED_METHODS'));

export const handler = createFallbackRoute(
  { now: Date.now, log: createLog() },
  allowedMethods,
  optionalVariable('STANDBY') === 'true',
);
