/** Errors of calls. None contains the app key. */
import type { ErrorCode, RefusedItem } from './types.ts';

/** Where a call was sent. */
export interface CallTarget {
  /** Path of the operation. */
  readonly path: string;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Set only for a merge. */
  readonly idempotencyKey?: string;
}

/** Base class of all errors of a call, except an abort by your signal, which throws the signal's reason. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly path: string;
  readonly origin: string;
  /** Set only for a merge: repeat the call with this key to complete it safely. */
  readonly idempotencyKey: string | undefined;
  /**
   * Set by the methods that walk pages: pass it as `cursor` of hosts, or `search_after_ctx` of a list, to go on with the page that failed.
   */
  cursor: string | undefined;

  constructor(message: string, { path, origin, idempotencyKey }: CallTarget, options?: ErrorOptions) {
    super(message, options);
    this.path = path;
    this.origin = origin;
    this.idempotencyKey = idempotencyKey;
  }
}

/** No answer; see `cause`. The call may have been carried out. */
export class ConnectionError extends ApiError {
  override readonly name: string = 'ConnectionError';
}

/** No answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

/** An answer that is not from this service: check `url` and any proxies. */
export class UnexpectedAnswerError extends ApiError {
  override readonly name = 'UnexpectedAnswerError';
  readonly status: number;
  constructor(status: number, target: CallTarget) {
    super(
      `${target.origin}${target.path} answered ${status} without an envelope of this service: check the url`,
      target,
    );
    this.status = status;
  }
}

/** An answer of more than 64 MiB, which the service never sends: its rest was not read. The call may have been carried out. */
export class AnswerTooLargeError extends ApiError {
  override readonly name = 'AnswerTooLargeError';
  constructor(target: CallTarget) {
    super(`${target.origin}${target.path} answered with more than 64 MiB: check the url`, target);
  }
}

/** A request has an integer beyond 2^53 as a number, or an answer has such an integer in a field of type number. */
export class InexactNumberError extends ApiError {
  override readonly name = 'InexactNumberError';
  /** Path of the integer, such as `version` or `data.items[3].servicemap.node_count`. */
  readonly field: string;
  constructor(field: string, hint: string, target: CallTarget) {
    super(`${field} is beyond 2^53, where a number is not exact${hint}`, target);
    this.field = field;
  }
}

/** The service's error response. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly requestId: string;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  readonly refused?: readonly RefusedItem[] | undefined;
}

/** The service refused the call. Each code has a subclass; codes newer than the client use this class. */
export class ServiceError extends ApiError {
  override readonly name: string;
  readonly code: ErrorCode | (string & {});
  readonly status: number;
  /** Quote it when you ask about the call. */
  readonly requestId: string;
  /** Seconds after which to retry; undefined if the service sent none. */
  readonly retryAfter: number | undefined;
  /** The first items of a call to the feed, if none was taken. */
  readonly refused: readonly RefusedItem[];

  constructor({ code, message, status, requestId, retryAfter, refused = [] }: Refusal, target: CallTarget) {
    super(message, target);
    this.name = code.endsWith('Error') ? code : `${code}Error`;
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.refused = refused;
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

/** Makes the error, of the class of its code. */
export function serviceError(refusal: Refusal, target: CallTarget): ServiceError {
  const ErrorClass = Object.hasOwn(CLASSES, refusal.code)
    ? CLASSES[refusal.code as keyof typeof CLASSES]
    : ServiceError;
  return new ErrorClass(refusal, target);
}
