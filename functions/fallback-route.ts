import { createFallbackRoute } from '../lib/api/fallback-route.ts';
import { createLog } from '../lib/log.ts';
import { requiredVariable } from '../lib/settings.ts';

const allowed = JSON.parse(requiredVariable('ALLOWED_METHODS'));

export const handler = createFallbackRoute({ now: Date.now, log: createLog() }, allowed);
