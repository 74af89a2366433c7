/**
 * `node:http` by `require`: as an ES module Node 24 evaluates each of its exports on import, among them
 * WebSocket and fetch's events, and so loads undici, which takes longer than the whole service.
 */
import { createRequire } from 'node:module';

const http = createRequire(import.meta.url)('node:http') as typeof import('node:http');

export const { Agent, request, STATUS_CODES } = http;
