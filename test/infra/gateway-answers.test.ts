/** The answers of API Gateway itself, for each type in its documentation that a call to this API can get. */
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { answerOf } from '../../packages/local/gateway-response.ts';
import { deployment, startGateway } from './fake-functions.ts';

type Row = [type: string, status: number, code: ErrorCode, headers?: Record<string, string>, message?: string];
const WAIT = { 'Retry-After': '1' };
const OWN: Row[] = [
  ['ACCESS_DENIED', 403, 'AccessDenied'],
  ['DEFAULT_4XX', 400, 'BadRequest'],
  ['DEFAULT_5XX', 503, 'ServiceUnavailable', WAIT],
  ['INVALID_API_KEY', 503, 'ServiceUnavailable', WAIT],
  ['MISSING_AUTHENTICATION_TOKEN', 405, 'MethodNotAllowed', { Allow: 'POST' }],
  ['REQUEST_TOO_LARGE', 413, 'EntityTooLarge'],
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
/** Types whose default status is 5xx: `DEFAULT_5XX` answers for them. */
const FAILURES = [
  ...['API_CONFIGURATION_ERROR', 'AUTHORIZER_CONFIGURATION_ERROR', 'AUTHORIZER_FAILURE'],
  ...['INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT'],
].map((type): Row => [type, 503, 'ServiceUnavailable', WAIT]);

describe('an answer of API Gateway itself', () => {
  it('has a gateway response, or is one of the failures that share DEFAULT_5XX', () => {
    expect(deployment.responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(OWN.map(([type]) => type));
  });

  it.each([...OWN, ...FAILURES])(
    '%s is %d %s in the envelope, with the request id in body and header',
    (type, status, code, more = {}, message = en.codes[code]) => {
      const { statusCode, headers, body } = answerOf(deployment.responses, type, 'an-id');
      expect([statusCode, JSON.parse(body)]).toEqual([status, { request_id: 'an-id', error: { code, message } }]);
      expect(headers).toEqual({
        'Content-Type': 'application/json',
        'x-amzn-RequestId': 'an-id',
        'Svc-Request-Id': 'an-id',
        'Content-Language': 'en',
        Vary: 'Accept-Language',
        'Cache-Control': 'no-store',
        ...more,
      });
      // API Gateway would take it for a variable.
      expect(message).not.toContain('$');
    },
  );

  it('reaches the caller when the authorizer fails', async () => {
    const gateway = await startGateway(deployment, { authorize: () => Promise.reject(new Error('secret')) });
    const { status, text, headers } = await gateway.post('/alert/merge?app_key=k');
    const { request_id, error } = JSON.parse(text);
    expect([status, error.code, request_id]).toEqual([503, 'ServiceUnavailable', headers.get('svc-request-id')]);
    expect([headers.get('retry-after'), headers.get('content-language')]).toEqual(['1', 'en']);
  });
});
