import { describe, expect, it } from 'vitest';
import { validateMiddleware } from '../../../lib/http/body.ts';
import type { ApiError } from '../../../lib/http/errors.ts';
import { catalogFor, messageOf } from '../../../lib/http/messages/index.ts';
import type { ApiRequest } from '../../../lib/http/operation.ts';
import { checkScanLimit } from '../../../lib/operations/browse-fleet/browse.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import validateBrowse from '../../../lib/operations/browse-fleet/validate-browse-fleet.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import validateDelete from '../../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import validateRum from '../../../lib/operations/get-rum-resource/validate-get-rum-resource.ts';
import { mergeAlerts } from '../../../lib/operations/merge-alerts/schema.ts';
import validateMerge from '../../../lib/operations/merge-alerts/validate-merge-alerts.ts';

const check = {
  browse: validateMiddleware(browseFleet.request, validateBrowse, checkScanLimit),
  rum: validateMiddleware(getRumResource.request, validateRum),
  delete: validateMiddleware(deleteWorkItem.request, validateDelete),
  merge: validateMiddleware(mergeAlerts.request, validateMerge),
};

/** The message for a body; undefined when it passes. */
function messageFor(operation: keyof typeof check, body: object): string | undefined {
  try {
    check[operation].before?.({ event: { body } } as unknown as ApiRequest);
    return undefined;
  } catch (error) {
    expect((error as ApiError).code).toBe('InvalidParameter');
    return messageOf(catalogFor('en'), error as ApiError);
  }
}

const STATUS_NAMES = 'active, degraded, stale, initializing, disabled, unsupported, no_data';
const ID = 'a'.repeat(24);
const ITEM = 'must be a string of 1 to 128 characters';
const VERSION = 'must be an integer from 1 to 9223372036854775806';

it('fills in the defaults of fleet browse', () => {
  const body = {};
  expect(messageFor('browse', body)).toBeUndefined();
  expect(body).toEqual({ limit: 50, scan_limit: 1000 });
});

it.each<[keyof typeof check, object, string]>([
  ...[0, '50', 1.5, 101].map((limit): ['browse', object, string] => [
    'browse',
    { limit, scan_limit: 200 },
    'limit must be an integer from 1 to 100.',
  ]),
  // An invalid limit is not compared with scan_limit.
  ['browse', { limit: 1001, scan_limit: 100 }, 'limit must be an integer from 1 to 100.'],
  ['browse', { scan_limit: 0 }, 'scan_limit must be an integer from 1 to 2000.'],
  ['browse', { scan_limit: 49 }, 'scan_limit must be an integer from 50 (limit) to 2000.'],
  ['browse', { cursor: '\ud800' }, 'cursor must be a string, in well-formed Unicode.'],
  ['browse', { agent_versions: ['1', 2, 3] }, 'agent_versions[1] (and 1 more) must be a string.'],
  [
    'browse',
    { limit: 5, scan_limit: 2, statuses: 5, cursor: [] },
    'cursor must be a string; ' +
      `statuses must be an array of at most 20 items, each one of ${STATUS_NAMES}; ` +
      'scan_limit must be an integer from 5 (limit) to 2000.',
  ],
  ['delete', {}, `work_item_id is required and ${ITEM}; version is required and ${VERSION}.`],
  ...['', 'x'.repeat(129)].map((work_item_id): ['delete', object, string] => [
    'delete',
    { work_item_id, version: 1 },
    `work_item_id ${ITEM}.`,
  ]),
  ['delete', { work_item_id: 'x', version: 2n ** 63n - 1n }, `version ${VERSION}.`],
  [
    'merge',
    { alert_ids: [ID, `${ID}a`, 'g'.repeat(24)], incident_id: `${ID}\n` },
    'alert_ids[1] (and 1 more) must be an ObjectID: a string of 24 hexadecimal digits; ' +
      'incident_id must be an ObjectID: a string of 24 hexadecimal digits.',
  ],
])('%s answers %o: %s', (operation, body, message) => {
  expect(messageFor(operation, { ...body })).toBe(message);
});

it.each([
  ['browse', { statuses: [], agent_versions: [], edge_clusters: Array(20).fill('') }],
  ['delete', { work_item_id: '\u{1f600}'.repeat(128), version: 2n ** 63n - 2n }],
  ['merge', { alert_ids: [ID], incident_id: ID.toUpperCase(), title: '\u{1f600}'.repeat(512), owner_id: -(2n ** 63n) }],
] as const)('%s accepts %o: lengths count code points, integers are exact', (operation, body) => {
  expect(messageFor(operation, { ...body })).toBeUndefined();
});

describe('the errors of a field and its items', () => {
  const ITEM = { type: 'string', maxLength: 3 };
  const LIST = { type: 'array', items: ITEM };

  /** What a body's refusal says of the field `list`. @param paths of the errors that the validator finds */
  function errorsOf(paths: string[], body: object = {}, params: object = {}): unknown {
    const errors = paths.map((instancePath) => ({ instancePath, params }));
    const validate = Object.assign(() => false, { errors });
    const { before } = validateMiddleware({ properties: { list: LIST } }, validate);
    try {
      before?.({ event: { body } } as unknown as ApiRequest);
      return [];
    } catch (error) {
      return (error as ApiError).explanation?.values;
    }
  }

  it.each([
    [['/list/1', '/list/1'], { schema: ITEM, item: 1 }],
    [['/list/1', '/list/1', '/list/2', '/list/7', '/list/7'], { schema: ITEM, item: 1, moreItems: 2 }],
    [['/list/1', '/list'], { schema: ITEM, item: 1 }],
    [['/list', '/list/1', '/list/2'], { schema: LIST }],
  ])('%j become one error', (paths, error) => {
    expect(errorsOf(paths)).toStrictEqual({ fieldErrors: [{ field: 'list', ...error }] });
  });

  it('include half a surrogate pair, if nothing else is wrong with the field', () => {
    expect(errorsOf([], { list: ['abc'] })).toEqual([]);
    const item = { field: 'list', schema: ITEM, item: 0 };
    const illFormed = { ...item, illFormed: true };
    expect(errorsOf([], { list: ['\ud800', 'abc'] })).toStrictEqual({ fieldErrors: [illFormed] });
    expect(errorsOf([], { list: ['\ud800', '\ud800'] })).toStrictEqual({
      fieldErrors: [{ ...illFormed, moreItems: 1 }],
    });
    expect(errorsOf(['/list/0'], { list: ['\ud800abc'] })).toStrictEqual({ fieldErrors: [item] });
  });

  it('say that the field is missing', () => {
    const fieldErrors = [{ field: 'list', schema: LIST, missing: true }];
    expect(errorsOf([''], {}, { missingProperty: 'list' })).toStrictEqual({ fieldErrors });
  });

  it('may come from a check that uses the caller', () => {
    const validate = Object.assign(() => true, { errors: null });
    const { before } = validateMiddleware({ properties: {} }, validate, (_body, _offending, { call }) => [
      { field: `of account ${call.caller?.accountId}`, schema: {} },
    ]);
    const event = { body: {}, call: { caller: { accountId: 1 } } };
    const values = { fieldErrors: [{ field: 'of account 1', schema: {} }] };
    expect(() => before?.({ event } as unknown as ApiRequest)).toThrow(
      expect.objectContaining({ explanation: { name: 'invalidFields', values } }),
    );
  });
});
