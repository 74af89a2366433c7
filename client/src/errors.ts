/** What a call fails with. Nothing here ever holds the app key. */
import type { ErrorCode } from './types.ts';

/** Where a call went. */
export interface CallSite {
  /** Path of the operation. */
  readonly path: string;
  /** Scheme, host and port that it was sent to. */
  readonly origin: string;
  /** Of a merge. */
  readonly idempotencyKey?: string;
}

/** Everything that a call can fail with, except an abort by your own signal, which throws the signal's reason. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly path: string;
  readonly origin: string;
  /** Of a merge: the same call with this key tells whether it was done, and does it if not. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { path, origin, idempotencyKey }: CallSite, options?: ErrorOptions) {
    super(message, options);
    this.path = path;
    this.origin = origin;
    this.idempotencyKey = idempotencyKey;
  }
}

/** No answer came; `cause` says why. The call may have been carried out. */
export class ConnectionError extends ApiError {
  override readonly name: string = 'ConnectionError';
}

/** No answer came in `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

/** An answer that is not from this service: check `url`, and what stands between. */
export class UnexpectedAnswerError extends ApiError {
  override readonly name = 'UnexpectedAnswerError';
  readonly status: number;
  constructor(status: number, site: CallSite) {
    super(`${site.origin}${site.path} answered ${status} without an envelope of this service: check the url`, site);
    this.status = status;
  }
}

/** An integer that a number does not hold exactly, in a request or in an answer. */
export class InexactNumberError extends ApiError {
  override readonly name = 'InexactNumberError';
  /** Such as `version` or `data.items[3].servicemap.node_count`. */
  readonly field: string;
  constructor(field: string, hint: string, site: CallSite) {
    super(`${field} is beyond 2^53, where a number is not exact${hint}`, site);
    this.field = field;
  }
}

/** What the service says when it refuses a call. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly requestId: string;
  /** Seconds. */
  readonly retryAfter: number | undefined;
}

/** The service refused the call; its own class for each code, this one for codes that are newer than the client. */
export class ServiceError extends ApiError {
  override readonly name: string;
  /** What to act on. */
  readonly code: ErrorCode | (string & {});
  readonly status: number;
  /** Give it to whoever runs the service when you ask about the call. */
  readonly requestId: string;
  /** Seconds after which to call again; undefined when the service does not say. */
  readonly retryAfter: number | undefined;

  constructor({ code, message, status, requestId, retryAfter }: Refusal, site: CallSite) {
    super(message, site);
    this.name = code.endsWith('Error') ? code : `${code}Error`;
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

export class InvalidParameterError extends ServiceError {}
export class BadRequestError extends ServiceError {}
export class InvalidContentTypeError extends ServiceError {}
export class ResourceNotFoundError extends ServiceError {}
export class NoLicenseError extends ServiceError {}
export class ReferenceExistError extends ServiceError {}
export class UnauthorizedError extends ServiceError {}
export class BalanceNotEnoughError extends ServiceError {}
export class AccessDeniedError extends ServiceError {}
export class RouteNotFoundError extends ServiceError {}
export class MethodNotAllowedError extends ServiceError {}
export class UndonedOrderExistError extends ServiceError {}
export class EntityTooLargeError extends ServiceError {}
export class RequestLockedError extends ServiceError {}
export class RequestVerifyRequiredError extends ServiceError {}
export class DangerousOperationError extends ServiceError {}
export class RequestTooFrequentlyError extends ServiceError {}
export class InternalError extends ServiceError {}
export class ServiceUnavailableError extends ServiceError {}

const CLASSES: Readonly<Record<Exclude<ErrorCode, 'OK'>, typeof ServiceError>> = {
  InvalidParameter: InvalidParameterError,
  BadRequest: BadRequestError,
  InvalidContentType: InvalidContentTypeError,
  ResourceNotFound: ResourceNotFoundError,
  NoLicense: NoLicenseError,
  ReferenceExist: ReferenceExistError,
  Unauthorized: UnauthorizedError,
  BalanceNotEnough: BalanceNotEnoughError,
  AccessDenied: AccessDeniedError,
  RouteNotFound: RouteNotFoundError,
  MethodNotAllowed: MethodNotAllowedError,
  UndonedOrderExist: UndonedOrderExistError,
  EntityTooLarge: EntityTooLargeError,
  RequestLocked: RequestLockedError,
  RequestVerifyRequired: RequestVerifyRequiredError,
  DangerousOperation: DangerousOperationError,
  RequestTooFrequently: RequestTooFrequentlyError,
  InternalError,
  ServiceUnavailable: ServiceUnavailableError,
};

/** The error of a refusal, of its code's class. */
export function serviceError(refusal: Refusal, site: CallSite): ServiceError {
  const known = Object.hasOwn(CLASSES, refusal.code) ? CLASSES[refusal.code as keyof typeof CLASSES] : ServiceError;
  return new known(refusal, site);
}
