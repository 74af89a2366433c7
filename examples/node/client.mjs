// Makes the client of the examples, and ends them with a line that tells what is wrong, and an exit code of docs/api.md.
import { ConnectionError, createClient } from 'incident-monitoring-rum-client';

/**
 * Wrong use: an argument, an environment variable, or a file to read.
 * @param {string} message
 * @returns {never}
 */
export function refuseUse(message) {
  console.error(message);
  process.exit(2);
}

/** Runs an example. @param {(client: import('incident-monitoring-rum-client').Client) => Promise<void>} example */
export async function run(example) {
  process.stdout.on('error', () => process.exit(0)); // the reader, such as head, has enough
  const { APP_KEY: appKey, BASE_URL } = process.env;
  if (!appKey) refuseUse('Set APP_KEY to the app key of an account');
  try {
    await example(connect(BASE_URL || 'http://127.0.0.1:3000', appKey));
  } catch (error) {
    const {
      name,
      code = name,
      message,
      status = 0,
    } = /** @type {Error & { code?: string, status?: number }} */ (error);
    // What others have written must not command the terminal.
    console.error(`${code}: ${message}`.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?'));
    // Of a service that cannot be reached, is busy or has failed, a later try may succeed.
    process.exitCode = error instanceof ConnectionError || status === 429 || status >= 500 ? 4 : 1;
  }
}

/**
 * @param {string} url
 * @param {string} appKey
 */
function connect(url, appKey) {
  try {
    return createClient({
      url,
      appKey,
      retryUnreachable: false, // the address is probably wrong
      onEvent(event) {
        if (event.type === 'wait' && event.ms >= 1_000)
          console.error(`${event.reason}: trying again in ${Math.ceil(event.ms / 1_000)} s`);
      },
    });
  } catch (error) {
    refuseUse(/** @type {Error} */ (error).message);
  }
}
