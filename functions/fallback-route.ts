import { createFallbackRoute } from '../lib/api/fallback-route.ts';
import { createLog } from '../lib/log.ts';

const { ALLOWED_METHODS } = process.env;
if (!ALLOWED_METHODS) throw new Error('ALLOWED_METHODS is required');

export const handler = createFallbackRoute({ now: Date.now, log: createLog() }, JSON.parse(ALLOWED_METHODS));
