import { refuseRoute } from '../lib/api/refuse-route.ts';
import { createLog } from '../lib/log.ts';

const { ALLOWED_METHODS } = process.env;
if (!ALLOWED_METHODS) throw new Error('ALLOWED_METHODS is required');

export const handler = refuseRoute({ now: Date.now, log: createLog() }, JSON.parse(ALLOWED_METHODS));
