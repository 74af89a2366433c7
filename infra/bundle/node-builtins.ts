/**
 * Modules of Node by `require`: as an ES module Node 24 evaluates each of their exports on import, and so loads
 * Web Crypto, file streams and more that no function uses.
 */
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

export const { createHash, createHmac, createSecretKey, getRandomValues, hash, randomUUID, timingSafeEqual } = load(
  'node:crypto',
) as typeof import('node:crypto');
export const { readFileSync } = load('node:fs') as typeof import('node:fs');
export { createReadStream, fstatSync, lstatSync, ReadStream } from './unused.ts';
export const { homedir, platform, release } = load('node:os') as typeof import('node:os');
export const { join, sep } = load('node:path') as typeof import('node:path');
export const { fileURLToPath } = load('node:url') as typeof import('node:url');
export const { env, versions } = process;
