import { type GatewayResponseOptions, ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { ERROR_CODES, type ErrorCode } from '../lib/http/errors.ts';
import { catalog as en } from '../lib/http/messages/en.ts';
import { CODING_MESSAGE } from './coding-message.ts';

/**
 * The error code of each answer that API Gateway itself makes, so that these answers have the service's envelope, too. The two defaults are
 * for all other types: they also set the status. `DEFAULT_5XX` stands for functions and authorizers that fail, time out or are throttled.
 * None has the code `InternalError`, which means a bug in a function: when API Gateway itself answers with 5xx, no function did.
 */
const CODES: readonly (readonly [type: ResponseType, code: ErrorCode, message?: string])[] = [
  // A resource policy that the operator added.
  [ResponseType.ACCESS_DENIED, 'AccessDenied'],
  // The account's gateway key is in no usage plan: the operator has to add it.
  [ResponseType.INVALID_API_KEY, 'ServiceUnavailable'],
  // A method other than the seven that `ANY` stands for. An unknown path never gets this response, since `/{proxy+}` matches it.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, 'MethodNotAllowed'],
  [ResponseType.REQUEST_TOO_LARGE, 'EntityTooLarge'],
  [ResponseType.THROTTLED, 'RequestTooFrequently'],
  // No app_key in the query string: the authorizer's identity source is empty.
  [ResponseType.UNAUTHORIZED, 'Unauthorized'],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, 'BadRequest', CODING_MESSAGE],
  // A web ACL that the operator added: docs/deploy.md.
  [ResponseType.WAF_FILTERED, 'AccessDenied'],
  [ResponseType.DEFAULT_4XX, 'BadRequest'],
  [ResponseType.DEFAULT_5XX, 'ServiceUnavailable'],
];

/** The body of an answer. API Gateway does not escape variables, so the request id is the only one: a caller can set it only to a UUID. */
function template(code: ErrorCode, message = en.codes[code]): string {
  return `{"request_id":"$context.requestId","error":{"code":"${code}","message":${JSON.stringify(message)}}}`;
}

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
