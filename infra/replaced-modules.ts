/**
 * Replaces modules in the bundles: esbuild's `alias` resolves both to *this file*, so the last two exports are what bundled packages get.
 * Nothing imports them by path; do not delete them. `test/infra/bundles.test.ts` fails when a bundle has what they leave out; esbuild fails when
 * a bundle imports a name that this file does not export.
 */
import { fileURLToPath } from 'node:url';

export const [CREDENTIALS, NODE_HTTP] = ['@aws-sdk/credential-provider-node', 'node:http'] as const;

/** The value of esbuild's option `alias`. */
export const aliases = (modules: readonly string[] = [CREDENTIALS, NODE_HTTP]) =>
  Object.fromEntries(modules.map((name) => [name, fileURLToPath(import.meta.url)]));

/**
 * A function has its credentials in its environment. It needs no other source, such as profiles or instance metadata, which take 135 KB of a
 * bundle and 8 ms of CPU at a cold start.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';

/** An import of `node:http` evaluates all its exports. The export `WebSocket` loads undici, which takes 16 ms of CPU at a cold start. */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http');
