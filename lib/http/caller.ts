import type { AppKeys, Caller } from '../auth/app-keys.ts';
import { codePoints } from '../shared/code-points.ts';
import type { ApiEvent, ApiMiddleware } from './call.ts';
import { ApiError, refuse } from './errors.ts';

/** Maximum length, in code points. */
const MAX_APP_KEY_LENGTH = 256;

/**
 * Identifies the caller by the app key, and removes the key from the event, so that no later code can log it. Every
 * invalid key gets the same `Unauthorized` response, and so do several keys.
 */
export const callerMiddleware = (appKeys: AppKeys): ApiMiddleware => ({
  async before({ event }) {
    const appKeysSent = takeAppKeys(event);
    const appKey = appKeysSent.length === 1 ? appKeysSent[0] : undefined;
    const caller =
      appKey && codePoints(appKey) <= MAX_APP_KEY_LENGTH ? await appKeys.find(appKey, event.call) : undefined;
    if (!caller) throw new ApiError('Unauthorized');
    event.call.caller = caller;
  },
});

/** Refuses callers whose account lacks the permission. */
export const permissionMiddleware = (permission: string): ApiMiddleware => ({
  before({ event }) {
    if (!callerOf(event).permissions.includes(permission)) throw refuse('permissionMissing', { permission });
  },
});

/** The caller of a call that passed {@link callerMiddleware}. */
export function callerOf({ call }: Pick<ApiEvent, 'call'>): Caller {
  if (!call.caller) throw new Error('the caller middleware has not run');
  return call.caller;
}

/** Removes every `app_key` of the query string from the event, and returns their values. */
function takeAppKeys({ queryStringParameters: single, multiValueQueryStringParameters: multi }: ApiEvent): string[] {
  const last = single?.app_key;
  const all = multi?.app_key ?? (last === undefined ? [] : [last]);
  if (single) delete single.app_key;
  if (multi) delete multi.app_key;
  return all;
}
