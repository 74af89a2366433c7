import { expect } from 'vitest';
import { invalid, refused } from '../answers.ts';
import { DELETE, FLEET, PATHS, RUM } from '../api-client.ts';
import { type Requirements, todo } from '../requirement.ts';
import {
  INTERNAL_ERROR,
  localizesMessages,
  MISSING,
  namesEveryInvalidField,
  needsJson,
  needsKey,
  needsPermission,
  needsPost,
  RATE_LIMITED,
} from './common.ts';
import { failsWithCodeAndMessage } from './overview.ts';

export const errors = {
  'A failure is request_id and error with code and message': failsWithCodeAndMessage,
  'message is for people, in the language of Accept-Language': localizesMessages,
  'message may contain field names and ids': async (api) => {
    invalid(await api.remove({ version: 1 }), 'work_item_id');
    refused(await api.remove(MISSING), 'ResourceNotFound', MISSING.work_item_id);
  },
  'error.code decides: it is the same in every language': localizesMessages,
  'OK: not returned on errors': async (api) => expect((await api.rum()).body.error?.code).not.toBe('OK'),
  'InvalidParameter, 400: a required parameter is missing or failed validation': async (api) => {
    invalid(await api.remove({}), 'work_item_id');
    invalid(await api.call(FLEET, { limit: 'x' }), 'limit');
  },
  'BadRequest, 400: such as a body with a Content-Encoding': async (api) => {
    const options = { raw: 'x', headers: { 'Content-Encoding': 'br' } };
    for (const path of [RUM, DELETE])
      refused(await api.call(path, undefined, options), 'BadRequest', 'Content-Encoding');
  },
  'InvalidParameter names every wrong field, a cursor among them': namesEveryInvalidField,
  'InvalidContentType, 400: the content type is not application/json': needsJson,
  'ResourceNotFound: 400, not 404': async (api) => refused(await api.remove(MISSING), 'ResourceNotFound'),
  'Unauthorized, 401': needsKey,
  'AccessDenied, 403: authenticated, without the permission': needsPermission,
  'RouteNotFound, 404: the path is not a known route': async (api) => {
    for (const path of ['/', '/no/such/path', '/rum/resource', '/rum/resource/info/more', '/RUM/resource/info'])
      refused(await api.call(path), 'RouteNotFound');
  },
  'MethodNotAllowed, 405: the method is not allowed on a known path': needsPost,
  'EntityTooLarge, 413: the body exceeds the maximum': async (api) => {
    const raw = `{"x":"${'x'.repeat(3 * 1024 * 1024)}"}`;
    for (const path of [RUM, DELETE]) refused(await api.call(path, undefined, { raw }), 'EntityTooLarge');
  },
  'RequestTooFrequently, 429': RATE_LIMITED,
  'InternalError, 500': INTERNAL_ERROR,
  'ServiceUnavailable, 503: a dependency is unavailable': async (api) => {
    const url = await api.need('defective')('table');
    for (const path of PATHS) refused(await api.call(path, {}, { url, noRetry: true }), 'ServiceUnavailable');
  },
  NoLicense: todo('reserved: no operation here is licensed'),
  ReferenceExist: todo('reserved: no deletion here is blocked by references'),
  BalanceNotEnough: todo('reserved: no operation here is billed'),
  UndonedOrderExist: todo('reserved: no operation here places orders'),
  RequestLocked: todo('reserved: no operation here is locked after failures'),
  RequestVerifyRequired: todo('reserved: no operation here asks for a second factor'),
  DangerousOperation: todo('reserved: no operation here asks for a second factor'),
} satisfies Requirements;

export const versioning = {
  'The interface description is at version 1.0.0': async (api) => {
    const { status, text } = await api.request('/openapi.json');
    expect(status).toBe(200);
    expect(JSON.parse(text).info.version).toBe('1.0.0');
  },
  'Paths have no version before them': async (api) => {
    for (const path of PATHS) refused(await api.call(`/v1${path}`), 'RouteNotFound');
  },
  'Deprecation and negotiation of versions': todo('the contract leaves it open'),
} satisfies Requirements;
