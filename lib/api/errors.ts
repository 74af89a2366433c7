import type { FieldError } from './field-errors.ts';

/**
 * The one table of error codes, with the HTTP status of each. `reserved` codes belong to the contract but no operation
 * here can produce them.
 */
export const ERROR_CODES = {
  OK: { status: 200, reserved: true },
  InvalidParameter: { status: 400 },
  BadRequest: { status: 400 },
  InvalidContentType: { status: 400 },
  ResourceNotFound: { status: 400 },
  NoLicense: { status: 400, reserved: true },
  ReferenceExist: { status: 400, reserved: true },
  Unauthorized: { status: 401 },
  BalanceNotEnough: { status: 402, reserved: true },
  AccessDenied: { status: 403 },
  RouteNotFound: { status: 404 },
  MethodNotAllowed: { status: 405 },
  UndonedOrderExist: { status: 409, reserved: true },
  EntityTooLarge: { status: 413 },
  RequestLocked: { status: 423, reserved: true },
  RequestVerifyRequired: { status: 428, reserved: true },
  DangerousOperation: { status: 428, reserved: true },
  RequestTooFrequently: { status: 429 },
  InternalError: { status: 500 },
  ServiceUnavailable: { status: 503 },
} as const satisfies Record<string, { status: number; reserved?: true }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Sentences more specific than the code's, by name, with their values. */
export interface Explanations {
  invalidFields: { fieldErrors: FieldError[] };
  malformedBody: undefined;
  bodyTooDeep: undefined;
  bodyNotObject: undefined;
  bodyTooLarge: { maxBytes: number };
  invalidIdempotencyKey: undefined;
  idempotencyKeyReused: undefined;
  unknownCursor: undefined;
  workItemNotFound: { workItemId: string };
  versionDiffers: { given: string; stored: string };
  rumResourceNotFound: undefined;
  alertsTooLarge: { some: string[]; more: number };
  mergeTargetsNotFound: { some: { what: 'incident' | 'alert' | 'member'; id: string }[]; more: number };
  permissionMissing: { permission: string };
  tooFrequent: { limit: number; windowSeconds: number };
  methodNotAllowed: { allow: string };
}

export type ExplanationName = keyof Explanations;

/** One sentence of the catalogue with its values. */
export type Explanation = { [K in ExplanationName]: { name: K; values: Explanations[K] } }[ExplanationName];

/**
 * An error for the caller: a code of the table, its explanation, and response headers.
 * Anything else that is thrown becomes `InternalError` or `ServiceUnavailable` in the envelope.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly explanation: Explanation | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, explanation?: Explanation, headers: Record<string, string> = {}) {
    super(code);
    this.code = code;
    this.explanation = explanation;
    this.headers = headers;
  }
}
