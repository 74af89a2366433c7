/**
 * Error codes with the HTTP status of each. `reserved` codes belong to the contract but no operation
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

/** An error code, typed with the values that the refusal's message takes. */
type With<Values> = ErrorCode & { readonly values?: Values };

/** Refusals with a message of their own: the error code of each, and the values of its message, which each catalogue has by this name. */
const REFUSALS = {
  invalidFields: 'InvalidParameter' as With<{ fieldErrors: FieldError[] }>,
  malformedBody: 'InvalidParameter' as With<{ line: number; column: number }>,
  bodyNotUtf8: 'InvalidParameter' as With<undefined>,
  bodyEncoded: 'BadRequest' as With<{ encoding: string }>,
  bodyTooDeep: 'InvalidParameter' as With<{ levels: number }>,
  bodyNotObject: 'InvalidParameter' as With<undefined>,
  bodyTooLarge: 'EntityTooLarge' as With<{ maxBytes: number }>,
  /** `other`: the first character that a key may not hold. */
  invalidIdempotencyKey: 'InvalidParameter' as With<{ other: { position: number; codePoint: string } | undefined }>,
  idempotencyKeyReused: 'InvalidParameter' as With<undefined>,
  workItemNotFound: 'ResourceNotFound' as With<{ workItemId: string }>,
  workItemTooLarge: 'BadRequest' as With<{ workItemId: string }>,
  versionDiffers: 'InvalidParameter' as With<{ given: string; stored: string }>,
  rumResourceNotFound: 'ResourceNotFound' as With<undefined>,
  alertsTooLarge: 'BadRequest' as With<{ some: readonly string[]; more: number }>,
  incidentTooLarge: 'BadRequest' as With<{ incidentId: string }>,
  mergesPending: 'ServiceUnavailable' as With<{ pending: number }>,
  mergeTargetsNotFound: 'ResourceNotFound' as With<{
    some: readonly { what: 'incident' | 'alert' | 'member'; id: string }[];
    more: number;
    /** Alerts that were not looked up. */
    unread: number;
  }>,
  mergesReadTooMuch: 'RequestTooFrequently' as With<{ limit: number; windowSeconds: number }>,
  permissionMissing: 'AccessDenied' as With<{ permission: string }>,
  tooFrequent: 'RequestTooFrequently' as With<{ limit: number; windowSeconds: number }>,
  methodNotAllowed: 'MethodNotAllowed' as With<{ allow: string }>,
};

export type RefusalName = keyof typeof REFUSALS;

export const codeOf = (name: RefusalName): ErrorCode => REFUSALS[name];

/** The values of each refusal's sentence. */
export type Explanations = { [K in RefusalName]: (typeof REFUSALS)[K] extends With<infer Values> ? Values : never };

/** One sentence of the catalogue with its values. */
export type Explanation = { [K in RefusalName]: { name: K; values: Explanations[K] } }[RefusalName];

/** One offending field of a request body. */
export interface FieldError {
  field: string;
  /** All that is required of it, not only what is violated: the message says all of it. */
  schema: FieldSchema;
  /** The field is required and absent. */
  missing?: boolean;
  /** Index of the first invalid item of an array; `schema` is then that of the items. */
  item?: number;
  /** How many more items of the field are invalid. */
  moreItems?: number;
}

/** The part of JSON Schema that this service's request schemas use. */
export interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /** The other field that `minimum` is the value of. */
  readonly 'x-minimum-field'?: string;
  /** Of an int64, if a double cannot hold it. */
  readonly 'x-maximum'?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: FieldSchema;
}

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

type Values<K extends RefusalName> = Explanations[K] extends undefined
  ? []
  : [values: Explanations[K], headers?: Record<string, string>];

/** Builds the {@link ApiError} of a refusal. */
export const refuse = <K extends RefusalName>(name: K, ...[values, headers]: Values<K>): ApiError =>
  new ApiError(REFUSALS[name], { name, values } as Explanation, headers);
