/** The answers of API Gateway itself: status, code and headers for each type in its documentation. */
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { deployed, propertiesOf } from '../support/stack.ts';

const answers = new Map(
  Object.values(propertiesOf('AWS::ApiGateway::GatewayResponse', deployed())).map((answer) => [
    answer.ResponseType,
    answer,
  ]),
);

type Row = [type: string, status: number, code: ErrorCode, headers?: Record<string, string>, message?: string];
const WAIT = { 'Retry-After': "'1'" };
const ANSWERS: Row[] = [
  ['ACCESS_DENIED', 403, 'AccessDenied'],
  ['API_CONFIGURATION_ERROR', 503, 'ServiceUnavailable', WAIT],
  ['AUTHORIZER_CONFIGURATION_ERROR', 503, 'ServiceUnavailable', WAIT],
  ['AUTHORIZER_FAILURE', 503, 'ServiceUnavailable', WAIT],
  ['BAD_REQUEST_BODY', 400, 'InvalidParameter'],
  ['BAD_REQUEST_PARAMETERS', 400, 'InvalidParameter'],
  ['DEFAULT_4XX', 400, 'BadRequest'],
  ['DEFAULT_5XX', 503, 'ServiceUnavailable', WAIT],
  ['EXPIRED_TOKEN', 401, 'Unauthorized'],
  ['INTEGRATION_FAILURE', 503, 'ServiceUnavailable', WAIT],
  ['INTEGRATION_TIMEOUT', 503, 'ServiceUnavailable', WAIT],
  ['INVALID_API_KEY', 503, 'ServiceUnavailable', WAIT],
  ['INVALID_SIGNATURE', 401, 'Unauthorized'],
  ['MISSING_AUTHENTICATION_TOKEN', 405, 'MethodNotAllowed', { Allow: "'POST'" }],
  ['QUOTA_EXCEEDED', 429, 'RequestTooFrequently', WAIT],
  ['REQUEST_TOO_LARGE', 413, 'EntityTooLarge'],
  ['RESOURCE_NOT_FOUND', 404, 'RouteNotFound'],
  ['THROTTLED', 429, 'RequestTooFrequently', WAIT],
  ['UNAUTHORIZED', 401, 'Unauthorized'],
  [
    'UNSUPPORTED_MEDIA_TYPE',
    400,
    'BadRequest',
    {},
    'Omit Content-Encoding, or send gzip or deflate with a body encoded that way.',
  ],
  ['WAF_FILTERED', 403, 'AccessDenied'],
];

describe('a gateway response', () => {
  it('exists for every response type', () => {
    expect([...answers.keys()].sort()).toEqual(ANSWERS.map(([type]) => type));
  });

  it.each(ANSWERS)(
    '%s is %d %s, with the request id in body and header',
    (type, status, code, more = {}, message = en.codes[code]) => {
      const { StatusCode, ResponseParameters, ResponseTemplates } = answers.get(type);
      const headers = {
        'Svc-Request-Id': 'context.requestId',
        'Content-Language': "'en'",
        Vary: "'Accept-Language'",
        'Cache-Control': "'no-store'",
        ...more,
      };
      expect(StatusCode).toBe(String(status));
      expect(ResponseParameters).toEqual(
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value])),
      );
      expect(Object.keys(ResponseTemplates)).toEqual(['application/json']);
      expect(JSON.parse(ResponseTemplates['application/json'])).toEqual({
        request_id: '$context.requestId',
        error: { code, message },
      });
      // API Gateway would take it for a variable.
      expect(message).not.toContain('$');
    },
  );
});
