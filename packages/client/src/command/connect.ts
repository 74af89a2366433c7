/** The service that the environment names. */
import type { Client, ClientEvent, ClientOptions } from '../index.ts';
import { createClient } from '../index.ts';
import { asUsageError, UsageError, warn } from './output.ts';

const STILL_WAITING_MS = 3_000;

/** Says what the user waits for. */
function tellWaits(url: string): (event: ClientEvent) => void {
  let timer: NodeJS.Timeout | undefined;
  return (event) => {
    clearTimeout(timer);
    if (event.type === 'request')
      timer = setTimeout(() => warn(`Still waiting for ${new URL(url).origin}`), STILL_WAITING_MS).unref();
    if (event.type === 'wait' && event.ms >= 1_000)
      warn(`${event.reason}: trying again in ${Math.ceil(event.ms / 1_000)} s`);
  };
}

/** @throws UsageError without an app key */
export function clientOptions(): ClientOptions {
  const { APP_KEY: appKey, BASE_URL } = process.env;
  if (!appKey) throw new UsageError('APP_KEY is missing: set it to the app key of an account');
  const url = BASE_URL || 'http://127.0.0.1:3000';
  // The address is probably wrong if the service cannot be reached.
  return { url, appKey, retryUnreachable: false, onEvent: tellWaits(url) };
}

export const connect = (): Client => asUsageError(() => createClient(clientOptions()));
