import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type Caller, createAppKeys } from '../auth/app-keys.ts';
import type { Deps } from '../shared/deps.ts';
import { bodyMiddleware } from './body.ts';
import { type ApiEvent, deadlineMiddleware, type Reply } from './call.ts';
import { callerMiddleware, callerOf, permissionMiddleware } from './caller.ts';
import { envelopeMiddleware, observeMiddleware } from './envelope.ts';
import { refuse } from './errors.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import type { Operation } from './operations.ts';
import { createRateLimiter, rateLimitMiddleware } from './rate-limit.ts';
import { type CrossCheck, type Validator, validateMiddleware } from './validate.ts';

/** An operation is cancelled this long before the function's time-out, so that its caller gets a response. Milliseconds. */
const EARLY_MS = 500;
/** `Retry-After` in seconds while writes are frozen. */
const RETRY_FROZEN_SECONDS = '60';

/** One validated call of an operation. */
export interface Call<Body> {
  readonly body: Body;
  readonly caller: Caller;
  readonly requestId: string;
  /** Undefined if the caller sent none, or the operation takes none. */
  readonly idempotencyKey: string | undefined;
  /** Aborts shortly before the response is due. */
  readonly signal: AbortSignal;
}

/** The code of an operation: how it checks a call, and what it does. */
export interface Implementation<Body, Data> {
  /** Compiled from the operation's request schema. */
  readonly validate: Validator;
  readonly crossCheck?: CrossCheck<Body>;
  /** Runs after the checks of the body, before the rate limit counts the call. @throws ApiError if this deployment lacks the operation */
  checkAvailable?(): void;
  operate(call: Call<Body>): Promise<Reply<Data>>;
}

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/**
 * Builds the handler of an operation. All operations check in the contract's order: app key, permission, content type, size, body,
 * whether the operation is available, exact rate limit, Idempotency-Key. API Gateway has checked path and method.
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
  chain.use(bodyMiddleware(deps.settings)).use(validateMiddleware(operation.request, validate, crossCheck));
  if (operation.writes && deps.settings.writesFrozen) chain.before(() => refuseFrozenWrite(deps));
  if (checkAvailable) chain.before(checkAvailable);
  const { rateWindows } = operation;
  if (rateWindows) chain.use(rateLimitMiddleware(createRateLimiter({ ...operation, rateWindows }, deps), deps));
  return chain.handler((event) => operate(callOf<Body>(event, operation))) as unknown as Handler;
}

function refuseFrozenWrite({ metrics }: Deps): never {
  metrics.event('refused_by_setting');
  throw refuse('writesFrozen', undefined, { 'Retry-After': RETRY_FROZEN_SECONDS });
}

function callOf<Body>(event: ApiEvent, operation: Operation): Call<Body> {
  return {
    body: event.body as Body,
    caller: callerOf(event),
    requestId: event.call.requestId,
    idempotencyKey: operation.idempotent ? idempotencyKeyOf(event) : undefined,
    signal: event.call.signal,
  };
}
