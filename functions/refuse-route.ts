import { refuseRoute } from '../lib/api/refuse-route.ts';

const log = { info: console.info, warn: console.warn, error: console.error };

export const handler = refuseRoute({ now: Date.now, log });
