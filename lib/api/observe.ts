import type { Deps } from '../deps.ts';
import type { ApiMiddleware, ApiRequest } from './call.ts';
import type { Operation } from './operations.ts';

/** One log line a call, when its answer is made: what was asked, by which account, how it ended and how long it took. */
export function observeMiddleware(operation: Operation, { now, log }: Pick<Deps, 'now' | 'log'>): ApiMiddleware {
  function observe({ event: { call } }: ApiRequest): void {
    log.info('call', {
      operation: operation.name,
      code: call.code,
      request_id: call.requestId,
      duration_ms: now() - call.startedMs,
      ...(call.caller && { account_id: String(call.caller.accountId), app_key_id: call.caller.appKeyId }),
    });
  }
  return { after: observe, onError: observe };
}
