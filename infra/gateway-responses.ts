import { type GatewayResponseOptions, ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { ERROR_CODES, type ErrorCode } from '../lib/http/errors.ts';
import { catalog as en } from '../lib/http/messages/en.ts';

/**
 * The code of each answer that API Gateway makes itself, so that all answers have the same envelope. The two defaults come last, for
 * the types that have no entry. None is `InternalError`, which only functions answer: when API Gateway answers with 5xx, no function
 * did, mostly because Lambda throttled it.
 */
const CODES: readonly (readonly [type: ResponseType, code: ErrorCode, message?: string])[] = [
  [ResponseType.ACCESS_DENIED, 'AccessDenied'],
  [ResponseType.API_CONFIGURATION_ERROR, 'ServiceUnavailable'],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, 'ServiceUnavailable'],
  [ResponseType.AUTHORIZER_FAILURE, 'ServiceUnavailable'],
  [ResponseType.BAD_REQUEST_BODY, 'InvalidParameter'],
  [ResponseType.BAD_REQUEST_PARAMETERS, 'InvalidParameter'],
  [ResponseType.EXPIRED_TOKEN, 'Unauthorized'],
  [ResponseType.INTEGRATION_FAILURE, 'ServiceUnavailable'],
  [ResponseType.INTEGRATION_TIMEOUT, 'ServiceUnavailable'],
  // The usage plan does not know the account's gateway key: the operator has to provision it.
  [ResponseType.INVALID_API_KEY, 'ServiceUnavailable'],
  [ResponseType.INVALID_SIGNATURE, 'Unauthorized'],
  // A method that no route can have: `ANY` stands for seven, and there is a route for every path.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, 'MethodNotAllowed'],
  [ResponseType.QUOTA_EXCEEDED, 'RequestTooFrequently'],
  [ResponseType.REQUEST_TOO_LARGE, 'EntityTooLarge'],
  [ResponseType.RESOURCE_NOT_FOUND, 'RouteNotFound'],
  [ResponseType.THROTTLED, 'RequestTooFrequently'],
  // No app_key in the query string: the authorizer's identity source is empty.
  [ResponseType.UNAUTHORIZED, 'Unauthorized'],
  [
    ResponseType.UNSUPPORTED_MEDIA_TYPE,
    'BadRequest',
    'Content-Encoding must be gzip or deflate, as the body is, or absent.',
  ],
  [ResponseType.WAF_FILTERED, 'AccessDenied'],
  [ResponseType.DEFAULT_4XX, 'BadRequest'],
  [ResponseType.DEFAULT_5XX, 'ServiceUnavailable'],
];

/** API Gateway does not escape variables, so the template has none that a caller can set: only the request id. */
function template(code: ErrorCode, message = en.codes[code]): string {
  return `{"request_id":"$context.requestId","error":{"code":"${code}","message":${JSON.stringify(message)}}}`;
}

/** Every type of gateway response with its status, headers and envelope. */
export function gatewayResponses(): GatewayResponseOptions[] {
  return CODES.map(([type, code, message]) => {
    const { status } = ERROR_CODES[code];
    return {
      type,
      statusCode: String(status),
      responseHeaders: {
        'Svc-Request-Id': 'context.requestId',
        'Content-Language': "'en'",
        Vary: "'Accept-Language'",
        'Cache-Control': "'no-store'",
        ...(status === 405 && { Allow: "'POST'" }),
        ...((status === 429 || status === 503) && { 'Retry-After': "'1'" }),
      },
      templates: { 'application/json': template(code, message) },
    };
  });
}
