import { refuseRoute } from '../lib/api/refuse-route.ts';
import { createLog } from '../lib/log.ts';

const { OPERATION_PATHS } = process.env;
if (!OPERATION_PATHS) throw new Error('OPERATION_PATHS is required');

export const handler = refuseRoute({ now: Date.now, log: createLog() }, OPERATION_PATHS.split(' '));
