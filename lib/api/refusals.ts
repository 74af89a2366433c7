import { ApiError, type ErrorCode, type Explanation, type ExplanationName, type Explanations } from './errors.ts';

/** The table of refusals: the code of each. Its status is that of the code; what it says is in the catalogues by its name. */
const REFUSALS = {
  invalidFields: 'InvalidParameter',
  malformedBody: 'InvalidParameter',
  bodyTooDeep: 'InvalidParameter',
  bodyNotObject: 'InvalidParameter',
  bodyTooLarge: 'EntityTooLarge',
  invalidIdempotencyKey: 'InvalidParameter',
  idempotencyKeyReused: 'InvalidParameter',
  unknownCursor: 'InvalidParameter',
  workItemNotFound: 'ResourceNotFound',
  versionDiffers: 'InvalidParameter',
  rumResourceNotFound: 'ResourceNotFound',
  alertsTooLarge: 'BadRequest',
  mergeTargetsNotFound: 'ResourceNotFound',
  permissionMissing: 'AccessDenied',
  tooFrequent: 'RequestTooFrequently',
  methodNotAllowed: 'MethodNotAllowed',
} as const satisfies Record<ExplanationName, ErrorCode>;

type Values<K extends ExplanationName> = Explanations[K] extends undefined
  ? []
  : [values: Explanations[K], headers?: Record<string, string>];

/** Builds the {@link ApiError} of a refusal, which says its sentence of the catalogue. */
export const refuse = <K extends ExplanationName>(name: K, ...[values, headers]: Values<K>): ApiError =>
  new ApiError(REFUSALS[name], { name, values } as Explanation, headers);
