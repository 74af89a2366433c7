/**
 * `node:http` without what else hangs on it: as an ES module Node 24 fills in each of its exports when it is imported, among them
 * WebSocket and fetch's events, and so loads undici, which takes longer than all of the service. `require` does not.
 */
import { createRequire } from 'node:module';

const http = createRequire(import.meta.url)('node:http') as typeof import('node:http');

export const { Agent, request, STATUS_CODES } = http;
