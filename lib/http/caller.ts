import type { AppKeys, Caller } from '../auth/app-keys.ts';
import { codePoints } from '../shared/code-points.ts';
import type { ApiEvent, ApiMiddleware } from './call.ts';
import { ApiError, refuse } from './errors.ts';

/** Code points. */
const LONGEST_APP_KEY = 256;

/**
 * Who is calling: takes the app key out of the event, so that nothing later can log it, and looks it up.
 * Missing, malformed, unknown, expired and revoked keys all get the same `Unauthorized`.
 */
export const callerMiddleware = (appKeys: AppKeys): ApiMiddleware => ({
  async before({ event }) {
    const given = removeAppKey(event);
    const appKey = given.length === 1 ? given[0] : undefined;
    const caller = appKey && codePoints(appKey) <= LONGEST_APP_KEY ? await appKeys.find(appKey, event.call) : undefined;
    if (!caller) throw new ApiError('Unauthorized');
    event.call.caller = caller;
  },
});

/** Refuses a caller whose account lacks the operation's permission: `AccessDenied`. */
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

/** Every `app_key` of the query string, removed from the event. */
function removeAppKey({ queryStringParameters: single, multiValueQueryStringParameters: multi }: ApiEvent): string[] {
  const one = single?.app_key;
  const all = multi?.app_key ?? (one === undefined ? [] : [one]);
  if (single) delete single.app_key;
  if (multi) delete multi.app_key;
  return all;
}
