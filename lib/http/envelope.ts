import type { APIGatewayProxyResult } from 'aws-lambda';
import { causeOf, isUnavailable } from '../dynamodb/failures.ts';
import type { Deps } from '../shared/deps.ts';
import { stringifyJson } from '../shared/json.ts';
import { type ApiMiddleware, type ApiRequest, headerListOf, type Reply } from './call.ts';
import { ApiError, ERROR_CODES } from './errors.ts';
import { catalogFor, messageOf } from './messages/index.ts';
import type { Operation } from './operations.ts';

/** `Retry-After` in seconds when a dependency was unavailable. */
const RETRY_UNAVAILABLE_SECONDS = 1;

const NEVER_ABORTS = new AbortController().signal;
const BASE_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

/**
 * Converts whatever was thrown to the error that the caller gets: `ServiceUnavailable` if a dependency is down, throttles or is slow;
 * `InternalError`, with a fixed text, for anything unexpected.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isUnavailable(error))
    return new ApiError('ServiceUnavailable', undefined, { 'Retry-After': String(RETRY_UNAVAILABLE_SECONDS) });
  return new ApiError('InternalError');
}

/**
 * Wraps every response, success or failure, in the contract's envelope, with the request id in the body and in `Svc-Request-Id`. In the chain
 * only {@link observeMiddleware} comes before this, so that it observes the final code.
 */
export function envelopeMiddleware({ now, log }: Pick<Deps, 'now' | 'log'>): ApiMiddleware {
  return {
    before({ event, context }) {
      event.call = {
        requestId: event.requestContext?.requestId ?? context.awsRequestId,
        startedMs: now(),
        signal: NEVER_ABORTS,
        headers: {},
      };
    },

    after(request) {
      const { call } = request.event;
      const { data, headers } = request.response as Reply;
      call.code = 'OK';
      request.response = responseOf(200, { ...call.headers, ...headers }, call.requestId, { data });
    },

    onError(request) {
      const { call } = request.event;
      const error = toApiError(request.error);
      if (!(request.error instanceof ApiError))
        log[error.code === 'InternalError' ? 'error' : 'warn']('call failed', {
          request_id: call.requestId,
          cause: causeOf(request.error),
          ...failureFields(request.error),
        });
      const catalog = catalogFor(headerListOf(request.event, 'accept-language'));
      call.code = error.code;
      request.response = responseOf(
        ERROR_CODES[error.code].status,
        { ...call.headers, ...error.headers, 'Content-Language': catalog.language, Vary: 'Accept-Language' },
        call.requestId,
        { error: { code: error.code, message: messageOf(catalog, error) } },
      );
    },
  };
}

function responseOf(
  statusCode: number,
  headers: Record<string, string>,
  requestId: string,
  content: { data: unknown } | { error: { code: string; message: string } },
): APIGatewayProxyResult {
  return {
    statusCode,
    headers: { ...BASE_HEADERS, ...headers, 'Svc-Request-Id': requestId },
    body: stringifyJson({ request_id: requestId, ...content }),
  };
}

/** The log fields of an unexpected error: its name and stack, but not its message, which may quote input. */
function failureFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error_name: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const { $metadata } = error as { $metadata?: { requestId?: string; attempts?: number } };
  return {
    error_name: error.name,
    error_stack: frames.slice(0, 12).map((line) => line.trim()),
    ...($metadata && { aws_request_id: $metadata.requestId, attempts: $metadata.attempts }),
  };
}

/** Writes a log line and a metric of each call: operation, code and duration. Only the log line has the account. */
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
      // API Gateway generates this id. A client can choose `request_id` by the header x-amzn-RequestId.
      extended_request_id: requestContext?.extendedRequestId,
      duration_ms: durationMs,
      ...(call.caller && { account_id: String(call.caller.accountId), app_key_id: call.caller.appKeyId }),
    });
  }
  return { after: observe, onError: observe };
}
