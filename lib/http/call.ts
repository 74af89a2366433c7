/** The life of a call: its chain of checks, its deadline, its envelope, its log line. */
import middy from '@middy/core';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { causeOf, isUnavailable } from '../shared/concurrency.ts';
import { stringifyJson } from '../shared/json.ts';
import { callerMiddleware, callerOf, createAppKeys, permissionMiddleware } from './app-keys.ts';
import { bodyMiddleware, type CrossCheck, headerListOf, type Validator, validateMiddleware } from './body.ts';
import { ApiError, type Catalog, detailsOf, ERROR_CODES, isRefusedBySetting, messageOf, refusal } from './errors.ts';
import type { ApiEvent, ApiMiddleware, ApiRequest, Call, Handler, Operation, Reply } from './operation.ts';
import { idempotencyKeyOf, sourceOf } from './parameters.ts';
import { admissionOf, operateWithinLimit } from './rate-limit.ts';

/**
 * Last resort for an operation that ignores its signal, which aborts long before (`callMs`): its caller gets a 503 this long before the
 * function's time-out, in milliseconds. The operation itself is not cancelled.
 */
const EARLY_MS = 500;
/** `Retry-After` in seconds while writes are frozen, and of a standby. */
const RETRY_SUSPENDED_SECONDS = '60';

/** The code of an operation: how it checks a call, and what it does. */
export interface Implementation<Body, Data> {
  /** Compiled from the operation's request schema. */
  readonly validate: Validator;
  readonly crossCheck?: CrossCheck<Body>;
  /** Runs after the checks of the body, before the rate limit counts the call. @throws ApiError if this deployment lacks the operation */
  checkAvailable?(): void;
  operate(call: Call<Body>): Promise<Reply<Data>>;
}

/**
 * Builds the handler of an operation. All operations check in the contract's order: app key, permission, content type, size, body,
 * whether changes are suspended, whether the operation is available, Idempotency-Key, exact rate limit. API Gateway has checked path and method.
 */
export function createOperationHandler<Body, Data>(
  operation: Operation,
  { validate, crossCheck, checkAvailable, operate }: Implementation<Body, Data>,
  deps: Deps,
): Handler {
  const chain = middy<ApiEvent, Reply | APIGatewayProxyResult, Error, Context>({ timeoutEarlyInMillis: EARLY_MS })
    .use(observeMiddleware(operation, deps))
    .use(envelopeMiddleware(deps))
    .use(deadlineMiddleware(deps))
    .use(callerMiddleware(createAppKeys(deps)));
  if (operation.permission !== undefined) chain.use(permissionMiddleware(operation.permission));
  chain
    .use(bodyMiddleware({ ...deps.settings, ...operation }))
    .use(validateMiddleware(operation, validate, crossCheck));
  const suspended = suspensionOf(operation, deps);
  if (suspended)
    chain.before(() => {
      throw refusal(suspended, undefined, { 'Retry-After': RETRY_SUSPENDED_SECONDS });
    });
  if (checkAvailable) chain.before(checkAvailable);
  const admission = admissionOf(operation, deps);
  return chain.handler((event) => {
    const call = callOf<Body>(event, operation);
    return admission
      ? operateWithinLimit(admission, event, deps, (admitted) => operate({ ...call, admitted }))
      : operate(call);
  }) as unknown as Handler;
}

/** Why all calls of an operation are refused, if they are. A standby reads no queue, so what it took would be lost after ten days. */
function suspensionOf({ writes, sendsTo }: Operation, { settings }: Deps): 'standby' | 'writesFrozen' | undefined {
  if (settings.standby && (writes || sendsTo)) return 'standby';
  return settings.writesFrozen && writes ? 'writesFrozen' : undefined;
}

function callOf<Body>(event: ApiEvent, operation: Operation): Call<Body> {
  return {
    body: event.body as Body,
    bodyBytes: event.bodyBytes ?? 0,
    caller: callerOf(event),
    requestId: event.call.requestId,
    arrivedMs: arrivedMsOf(event),
    idempotencyKey: operation.idempotent ? idempotencyKeyOf(event) : undefined,
    source: operation.hasSource ? sourceOf(event) : undefined,
    signal: event.call.signal,
    catalog: () => catalogOf(event),
  };
}

/**
 * The messages in the caller's language, which the headers of the response then name, also of a success. They are loaded when they are first
 * needed: that saves time at a cold start.
 */
async function catalogOf(event: ApiEvent): Promise<Catalog> {
  const { catalogFor } = await import('./messages/index.ts');
  const catalog = catalogFor(headerListOf(event, 'accept-language'));
  const { headers } = event.call;
  event.call.headers = { ...headers, 'Content-Language': catalog.language, Vary: 'Accept-Language' };
  return catalog;
}

/** When API Gateway received a call, by its clock. */
const arrivedMsOf = ({ requestContext, call }: ApiEvent): number => requestContext?.requestTimeEpoch ?? call.startedMs;

/**
 * Maximum time between arrival at API Gateway and the handler's start that counts against the deadline, in milliseconds. A longer time is due
 * to a cold start or to a difference between the clocks.
 */
const MAX_BEFORE_MS = 1_000;

/** Gives a call a signal that aborts `callMs` after the call arrived at API Gateway. */
export const deadlineMiddleware = ({ now, timeLimits }: Pick<Deps, 'now' | 'timeLimits'>): ApiMiddleware => ({
  before({ event }) {
    const { startedMs } = event.call;
    const arrivedMs = arrivedMsOf(event);
    const countsFromMs = Math.min(startedMs, Math.max(arrivedMs, startedMs - MAX_BEFORE_MS));
    const leftMs = countsFromMs + timeLimits.callMs - now();
    event.call = { ...event.call, signal: AbortSignal.timeout(Math.max(1, leftMs)) };
  },
});

/** `Retry-After` in seconds when a dependency was unavailable. */
const RETRY_UNAVAILABLE_SECONDS = 1;

const NEVER_ABORTS = new AbortController().signal;
const BASE_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

/**
 * Converts whatever was thrown to the error that the caller gets: `ServiceUnavailable` if a dependency is down, throttles or is slow;
 * `InternalError`, with a fixed text, for anything unexpected.
 */
function toApiError(error: unknown): ApiError {
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

    async onError(request) {
      const { call } = request.event;
      const error = toApiError(request.error);
      if (!(request.error instanceof ApiError))
        log[error.code === 'InternalError' ? 'error' : 'warn']('call failed', {
          request_id: call.requestId,
          cause: causeOf(request.error),
          ...failureFields(request.error),
        });
      const catalog = await catalogOf(request.event);
      call.code = error.code;
      request.response = responseOf(
        ERROR_CODES[error.code].status,
        { ...call.headers, ...error.headers },
        call.requestId,
        { error: { code: error.code, message: messageOf(catalog, error), ...detailsOf(error) } },
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
function observeMiddleware(
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
  return {
    after: observe,
    onError(request) {
      observe(request);
      if (isRefusedBySetting(request.error)) metrics.event('refused_by_setting');
    },
  };
}
