import type { Deps } from '../shared/deps.ts';
import type { ApiMiddleware, ApiRequest } from './call.ts';
import type { Operation } from './operations.ts';

/**
 * One log line and one metric per call: operation, account, code, and duration. The metric has no account.
 */
export function observeMiddleware(
  operation: Operation,
  { now, log, metrics }: Pick<Deps, 'now' | 'log' | 'metrics'>,
): ApiMiddleware {
  function observe({ event: { call, requestContext } }: ApiRequest): void {
    const durationMs = now() - call.startedMs;
    metrics.call(operation.name, call.code ?? 'InternalError', durationMs);
    log.info('call', {
      operation: operation.name,
      code: call.code,
      request_id: call.requestId,
      // API Gateway's own: a client may choose the other with the header x-amzn-RequestId.
      extended_request_id: requestContext?.extendedRequestId,
      duration_ms: durationMs,
      ...(call.caller && { account_id: String(call.caller.accountId), app_key_id: call.caller.appKeyId }),
    });
  }
  return { after: observe, onError: observe };
}
