/** The contract's codes with their HTTP status. No operation here refuses a call with a `reserved` one. */
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

/** An error code, with the type of the values that the message takes. */
type CodeWith<Values> = ErrorCode & { readonly values?: Values };

/** The refusals with their own messages: the error code of each and, in its type, the values of its message. Catalogs use the same names. */
const REFUSALS = {
  invalidFields: 'InvalidParameter' as CodeWith<{ fieldErrors: readonly FieldError[] }>,
  malformedBody: 'InvalidParameter' as CodeWith<{ line: number; column: number }>,
  bodyNotUtf8: 'InvalidParameter' as CodeWith<undefined>,
  bodyWithMark: 'InvalidParameter' as CodeWith<undefined>,
  bodyEncoded: 'InvalidParameter' as CodeWith<{ encoding: string }>,
  bodyTooDeep: 'InvalidParameter' as CodeWith<{ levels: number }>,
  bodyTooManyValues: 'InvalidParameter' as CodeWith<{ values: number }>,
  bodyNotObject: 'InvalidParameter' as CodeWith<undefined>,
  bodyTooLarge: 'EntityTooLarge' as CodeWith<{ maxBytes: number }>,
  /** `invalid`: the first character that a key may not hold. */
  invalidIdempotencyKey: 'InvalidParameter' as CodeWith<{
    invalid: { position: number; codePoint: string } | undefined;
  }>,
  invalidSource: 'InvalidParameter' as CodeWith<{ maxLength: number }>,
  idempotencyKeyReused: 'InvalidParameter' as CodeWith<undefined>,
  workItemNotFound: 'ResourceNotFound' as CodeWith<{ workItemId: string }>,
  workItemTooLarge: 'BadRequest' as CodeWith<{ workItemId: string }>,
  versionDiffers: 'InvalidParameter' as CodeWith<{ given: string; stored: string }>,
  contentTypeOfItems: 'InvalidContentType' as CodeWith<undefined>,
  /** `refused`: the first items; `more`: how many others there are. */
  noItemTaken: 'InvalidParameter' as CodeWith<{ list: string; refused: readonly RefusedItem[]; more: number }>,
  alertNotFound: 'ResourceNotFound' as CodeWith<{ alertId: string }>,
  endedAlertsUnnamed: 'InvalidParameter' as CodeWith<undefined>,
  namedAlertsWithTimes: 'InvalidParameter' as CodeWith<undefined>,
  tooManyNamed: 'InvalidParameter' as CodeWith<{ fields: readonly [string, string]; given: number; maximum: number }>,
  rumResourceNotFound: 'ResourceNotFound' as CodeWith<undefined>,
  /** `named`: the ids that the message names; `more`: how many others there are. */
  alertsTooLarge: 'BadRequest' as CodeWith<{ named: readonly string[]; more: number }>,
  incidentTooLarge: 'BadRequest' as CodeWith<{ incidentId: string }>,
  mergesPending: 'ServiceUnavailable' as CodeWith<{ pending: number }>,
  mergeTargetsNotFound: 'ResourceNotFound' as CodeWith<{
    named: readonly { kind: 'incident' | 'alert' | 'member'; id: string }[];
    more: number;
    /** How many alerts were not looked up. */
    unread: number;
  }>,
  mergesWriteTooMuch: 'RequestTooFrequently' as CodeWith<{ limit: number; windowSeconds: number }>,
  permissionMissing: 'AccessDenied' as CodeWith<{ permission: string }>,
  tooFrequent: 'RequestTooFrequently' as CodeWith<{ limit: number; windowSeconds: number }>,
  tooManyItems: 'RequestTooFrequently' as CodeWith<{ limit: number; windowSeconds: number }>,
  writesFrozen: 'ServiceUnavailable' as CodeWith<undefined>,
  standby: 'ServiceUnavailable' as CodeWith<undefined>,
  serviceMapDisabled: 'ServiceUnavailable' as CodeWith<undefined>,
  methodNotAllowed: 'MethodNotAllowed' as CodeWith<{ allow: string }>,
  // What is wrong with an item that is sent to the feed: reasons of refusals, never a response of their own.
  itemTooLong: 'InvalidParameter' as CodeWith<{ bytes: number; maxBytes: number }>,
  itemNotJson: 'InvalidParameter' as CodeWith<{ column: number }>,
  itemNotObject: 'InvalidParameter' as CodeWith<undefined>,
  /** `field`: what is nested; absent: the item. Likewise below. */
  itemTooDeep: 'InvalidParameter' as CodeWith<{ field?: string; levels: number }>,
  itemNamesInvalid: 'InvalidParameter' as CodeWith<{ field?: string; maxLength: number }>,
  itemOfSns: 'InvalidParameter' as CodeWith<undefined>,
  itemOfRefusedCall: 'InvalidParameter' as CodeWith<undefined>,
  accountDiffers: 'InvalidParameter' as CodeWith<{ accountId: string }>,
  fieldUnknown: 'InvalidParameter' as CodeWith<{ field: string }>,
  fieldReserved: 'InvalidParameter' as CodeWith<{ field: string }>,
  numberNotStorable: 'InvalidParameter' as CodeWith<{ field: string }>,
  clockAhead: 'InvalidParameter' as CodeWith<{ field: string; aheadMs: number }>,
  notExactlyOne: 'InvalidParameter' as CodeWith<{ fields: readonly [string, string] }>,
  alertKeyRequired: 'InvalidParameter' as CodeWith<{ field: string }>,
  incidentIdZero: 'InvalidParameter' as CodeWith<undefined>,
  versionNotDeletable: 'InvalidParameter' as CodeWith<{ maximum: string }>,
  alertWithoutTitle: 'InvalidParameter' as CodeWith<undefined>,
  alertWithoutIdentity: 'InvalidParameter' as CodeWith<undefined>,
};

export type RefusalName = keyof typeof REFUSALS;

export const codeOf = (name: RefusalName): ErrorCode => REFUSALS[name];

export type Explanations = { [K in RefusalName]: (typeof REFUSALS)[K] extends CodeWith<infer Values> ? Values : never };

export type Explanation = {
  [K in RefusalName]: { name: K } & (Explanations[K] extends undefined
    ? { values?: undefined }
    : { values: Explanations[K] });
}[RefusalName];

export interface RefusedItem {
  readonly index: number;
  readonly reason: string;
}

/** Refused items as a text. The names of fields in it are the caller's: a program reads {@link ErrorDetails}. */
export const itemTextsOf = (list: string, refused: readonly RefusedItem[]): string[] =>
  refused.map(({ index, reason }) => `${list}[${index}]: ${reason}`);

/** What an error says to programs besides its code. */
interface ErrorDetails {
  readonly refused: readonly RefusedItem[];
  readonly refused_count: number;
}

export function detailsOf({ explanation }: Pick<ApiError, 'explanation'>): ErrorDetails | undefined {
  if (explanation?.name !== 'noItemTaken') return undefined;
  const { refused, more } = explanation.values;
  return { refused, refused_count: refused.length + more };
}

/** One offending field of a request body. */
export interface FieldError {
  field: string;
  /** All that the field must be, not only what it violates, since the message says all of it. */
  schema: FieldSchema;
  /** The field is required and absent. */
  missing?: boolean;
  /** Index of the first invalid item, if the field is an array with invalid items; `schema` is then that of the items. */
  item?: number;
  /** A string in it is not well-formed Unicode, which `schema` cannot express. */
  illFormed?: boolean;
  /** How many more items of the field are invalid. */
  moreItems?: number;
  /** The value of a time that is in the other unit. */
  wrongUnit?: { given: string; unit: 'seconds' | 'milliseconds' };
  /** The operation does not have it. `instead`: the field to use. */
  unsupported?: { instead?: string };
}

/** The part of JSON Schema that this service's request schemas use, and what cross-checks add. */
export interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Where `minimum` comes from, such as the name of another field. */
  readonly 'x-minimum-field'?: string;
  /** The same of `maximum`. */
  readonly 'x-maximum-field'?: string;
  /** The exact maximum of an int64, where a double cannot hold it. */
  readonly 'x-maximum'?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: FieldSchema;
}

/**
 * An error for the caller. Without an explanation, its message is that of the code. Anything else that is thrown becomes `InternalError` or
 * `ServiceUnavailable` in the envelope.
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

/**
 * Whether a call was refused since an operator has switched off what it needs: that is no failure of the service. One that reaches a standby
 * counts as failed, since it should have reached the region that serves.
 */
export const isRefusedBySetting = (error: unknown): boolean =>
  error instanceof ApiError && ['writesFrozen', 'serviceMapDisabled'].includes(error.explanation?.name ?? '');

type RefusalArguments<K extends RefusalName> = Explanations[K] extends undefined
  ? [values?: undefined, headers?: Record<string, string>]
  : [values: Explanations[K], headers?: Record<string, string>];

export const refusal = <K extends RefusalName>(name: K, ...[values, headers]: RefusalArguments<K>): ApiError =>
  new ApiError(REFUSALS[name], { name, values } as Explanation, headers);

/** The messages of a language. To add one, export `catalog` from a file of `messages/` named by its tag, and list it in `index.ts` there. */
export interface Catalog {
  /** BCP 47 tag, sent as `Content-Language`. */
  readonly language: string;
  /** The message of each code, for errors without an explanation. */
  readonly codes: Readonly<Record<ErrorCode, string>>;
  /** The messages with field names, ids or bounds. */
  readonly explain: { readonly [K in RefusalName]: (values: Explanations[K]) => string };
}

/** An explanation in the language of a catalog. */
export function explained({ explain }: Catalog, { name, values }: Explanation): string {
  // The values are those of the name, which the compiler does not infer.
  const explainRefusal = explain[name] as (values: unknown) => string;
  return explainRefusal(values);
}

/** The message of an error: what is wrong and what to do. */
export const messageOf = (catalog: Catalog, { code, explanation }: Pick<ApiError, 'code' | 'explanation'>): string =>
  explanation ? explained(catalog, explanation) : catalog.codes[code];
