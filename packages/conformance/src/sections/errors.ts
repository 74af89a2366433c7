import { data, equal, invalid, refused } from '../expect.ts';
import { open, section, shown } from '../sentence.ts';
import { DELETE_PATH, FLEET, PATHS, RUM } from '../trial.ts';

/** A work item that no account has. */
export const MISSING = { work_item_id: 'certify-no-such', version: 1 };

const RESERVED = {
  NoLicense: 'no operation here is licensed',
  ReferenceExist: 'no deletion here is blocked by references',
  BalanceNotEnough: 'no operation here is billed',
  UndonedOrderExist: 'no operation here places orders',
  RequestLocked: 'no operation here is locked after failures',
  RequestVerifyRequired: 'no operation here asks for a second factor',
  DangerousOperation: 'no operation here asks for a second factor',
};

export const errors = section('7', 'Errors', [
  shown('A failure is request_id and error with code and message', async (t) => {
    const { body } = await t.rum({ no_cache: 1 });
    equal(Object.keys(body).sort(), ['error', 'request_id'], 'fields');
    equal([typeof body.error.code, typeof body.error.message], ['string', 'string'], 'types of code and message');
  }),
  shown('message is for people, in the language of Accept-Language', async (t) => {
    const inLanguage = async (language: string) => {
      const answer = await t.remove({}, { headers: { 'Accept-Language': language } });
      invalid(answer, 'work_item_id');
      return /\p{Script=Han}/u.test(answer.body.error.message);
    };
    equal(await inLanguage('zh-CN'), true, 'Chinese for zh-CN');
    equal(await inLanguage('en'), false, 'Chinese for en');
    equal(await inLanguage('xx, zh-CN;q=0.8, en;q=0.5'), true, 'Chinese for xx, zh-CN;q=0.8, en;q=0.5');
  }),
  shown('message may contain field names and ids', async (t) => {
    invalid(await t.remove({ version: 1 }), 'work_item_id');
    refused(await t.remove(MISSING), 'ResourceNotFound', MISSING.work_item_id);
  }),
  shown('error.code decides: it is the same in every language', async (t) => {
    for (const language of ['en', 'zh-CN'])
      refused(await t.remove({}, { headers: { 'Accept-Language': language } }), 'InvalidParameter');
  }),
  shown('OK: not returned on errors', async (t) => {
    const { body } = await t.rum();
    equal(body.error?.code === 'OK', false, 'error OK');
  }),
  shown('InvalidParameter, 400: a required parameter is missing or failed validation', async (t) => {
    invalid(await t.remove({}), 'work_item_id');
    invalid(await t.call(FLEET, { limit: 'x' }), 'limit');
  }),
  shown('BadRequest, 400: such as a body with a Content-Encoding', async (t) => {
    for (const path of [RUM, DELETE_PATH])
      refused(
        await t.call(path, undefined, { raw: 'x', headers: { 'Content-Encoding': 'br' } }),
        'BadRequest',
        'Content-Encoding',
      );
  }),
  shown('InvalidParameter names every wrong field, a cursor among them', async (t) => {
    const answer = await t.call(FLEET, { cursor: 'nonsense', limit: 500 });
    for (const field of ['cursor', 'limit']) invalid(answer, field);
  }),
  shown('InvalidContentType, 400: the content type is not application/json', async (t) => {
    for (const path of PATHS)
      refused(await t.call(path, {}, { headers: { 'Content-Type': 'text/plain' } }), 'InvalidContentType');
  }),
  shown('ResourceNotFound: 400, not 404', async (t) => refused(await t.remove(MISSING), 'ResourceNotFound')),
  shown('Unauthorized, 401', async (t) => refused(await t.rum({}, { as: null }), 'Unauthorized')),
  shown('AccessDenied, 403: authenticated, without the permission', async (t) => {
    refused(await t.call(FLEET, {}, { as: t.need('otherAccount') }), 'AccessDenied');
  }),
  shown('RouteNotFound, 404: the path is not a known route', async (t) => {
    for (const path of ['/', '/no/such/path', '/rum/resource', '/rum/resource/info/more', '/RUM/resource/info'])
      refused(await t.call(path), 'RouteNotFound');
  }),
  shown('MethodNotAllowed, 405: the method is not allowed on a known path', async (t) => {
    for (const path of PATHS) refused(await t.call(path, undefined, { method: 'GET' }), 'MethodNotAllowed');
  }),
  shown('EntityTooLarge, 413: the body exceeds the maximum', async (t) => {
    const raw = `{"x":"${'x'.repeat(3 * 1024 * 1024)}"}`;
    for (const path of [RUM, DELETE_PATH]) refused(await t.call(path, undefined, { raw }), 'EntityTooLarge');
  }),
  open('RequestTooFrequently, 429', 'shown in section 8'),
  open('InternalError, 500', 'a bug of the service, which no call can cause'),
  shown('ServiceUnavailable, 503: a dependency is unavailable', async (t) => {
    const url = await t.need('impaired')('table');
    for (const path of PATHS) refused(await t.call(path, {}, { url, noRetry: true }), 'ServiceUnavailable');
  }),
  ...Object.entries(RESERVED).map(([code, why]) => open(code, `reserved: ${why}`)),
]);

export const versioning = section('9', 'Versioning', [
  shown('The interface description is at version 1.0.0', async (t) => {
    const response = await t.fetch('/openapi.json');
    equal(response.status, 200, 'status');
    equal(((await response.json()) as { info: { version: string } }).info.version, '1.0.0', 'info.version');
  }),
  shown('Paths have no version before them', async (t) => {
    for (const path of PATHS) refused(await t.call(`/v1${path}`), 'RouteNotFound');
    data(await t.rum());
  }),
  open('Deprecation and negotiation of versions', 'the contract leaves it open'),
]);
