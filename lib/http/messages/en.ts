import { type Catalog, itemTextsOf } from '../errors.ts';
import { type Bound, type FieldWords, fieldMessage } from './field.ts';

function range(min: Bound, max: Bound, unit = ''): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}`;
  if (min !== undefined) return `at least ${min}${unit}`;
  return max !== undefined ? `at most ${max}${unit}` : '';
}

const plural = (count: Bound, noun: string) => ` ${noun}${count === 1 ? '' : 's'}`;

const texts = (count: number, length: number) =>
  `an object of at most ${count} strings of at most ${length} characters each, with names of 1 to 128 characters`;

const WORDS: FieldWords = {
  formats: {
    objectid: 'an ObjectID: a string of 24 hexadecimal digits',
    'filtered-cursor':
      'a search_after_ctx that this service returned to this account for the same list (leave it out for the first page)',
    cursor: 'a next_cursor that this service returned to this account (leave it out for the first page)',
    'date-time': 'a time of RFC 3339',
    'http-url': 'an http or https URL of at most 2048 characters',
    labels: texts(64, 1024),
    annotations: texts(32, 2048),
    scalars: 'an object of strings, numbers and booleans',
    'undone-deletion':
      'an object with version (int64), at_ms (Unix milliseconds) and, if known, by (string of at most 256 characters)',
  },
  types: { boolean: 'true or false', object: 'a JSON object', any: 'a JSON value' },
  oneOf: (values) => `one of ${values.join(', ')}`,
  named: (bound, field) => `${bound} (${field})`,
  integer(min, max) {
    const bounds = range(min, max);
    if (!bounds) return 'an integer';
    return `an integer ${min !== undefined && max !== undefined ? 'from' : 'of'} ${bounds}`;
  },
  int64: (min) => `an integer in the int64 range${min === undefined ? '' : `, at least ${min}`}`,
  string(min, max) {
    const bounds = range(min, max, plural(max ?? min, 'character'));
    return bounds ? `a string of ${bounds}` : 'a string';
  },
  array(min, max, item) {
    const bounds = range(min, max, plural(max ?? min, 'item'));
    return `an array${bounds && ` of ${bounds}`}, each ${item}`;
  },
  wellFormed: ', in well-formed Unicode',
  otherUnit: {
    seconds: (given) => `: it is in milliseconds, and ${given} is in seconds`,
    milliseconds: (given) => `: it is in seconds, and ${given} is in milliseconds`,
  },
  missing: (field, wanted) => `${field} is required and must be ${wanted}`,
  invalid: (name, more, wanted) => `${name}${more ? ` (and ${more} more)` : ''} must be ${wanted}`,
  unsupported: (field, instead) => `${field} is not supported here: ${instead ? `use ${instead}` : 'leave it out'}`,
};

const subject = (field: string | undefined) => (field === undefined ? '' : `${field} `);

export const catalog: Catalog = {
  language: 'en',
  codes: {
    OK: 'The request succeeded.',
    InvalidParameter: 'A parameter is missing or invalid.',
    BadRequest: 'The request cannot be processed.',
    InvalidContentType: 'The Content-Type header must be application/json.',
    ResourceNotFound: 'The resource does not exist.',
    NoLicense: 'This feature requires a license, and no active license was found.',
    ReferenceExist: 'The resource is still referenced and cannot be deleted.',
    Unauthorized: 'The app_key is missing, invalid or expired. Send exactly one valid app_key query parameter.',
    BalanceNotEnough: 'The account balance is insufficient for this operation.',
    AccessDenied: 'The account lacks the permission that this operation requires.',
    RouteNotFound: 'Unknown path. Check the URL of the operation.',
    MethodNotAllowed: 'This path does not accept that method.',
    UndonedOrderExist: 'An outstanding order blocks a new one. Wait and retry.',
    EntityTooLarge: 'The request body is too large.',
    RequestLocked: 'The operation is temporarily locked after repeated failures.',
    RequestVerifyRequired: 'This request requires second-factor verification.',
    DangerousOperation: 'This high-risk operation requires multi-factor verification.',
    RequestTooFrequently: 'Too many requests. Try again after the time in the Retry-After header.',
    InternalError: 'Internal error. Report it with the request_id.',
    ServiceUnavailable: 'A dependency is unavailable. Try again after the time in the Retry-After header.',
  },
  explain: {
    invalidFields: ({ fieldErrors }) => `${fieldErrors.map((error) => fieldMessage(error, WORDS)).join('; ')}.`,
    malformedBody: ({ line, column }) =>
      `The request body must be valid JSON in UTF-8: it has a syntax error at line ${line}, column ${column}.`,
    bodyNotUtf8: () => 'The request body must be valid JSON in UTF-8: it is not UTF-8.',
    bodyWithMark: () =>
      'The request body must be valid JSON in UTF-8: remove the byte order mark (U+FEFF) at its start.',
    bodyEncoded: ({ encoding }) =>
      `The request body cannot be read with Content-Encoding ${encoding}. Send it in gzip, or without Content-Encoding.`,
    bodyTooDeep: ({ levels }) => `The request body may be nested at most ${levels} levels deep. Reduce the nesting.`,
    bodyTooManyValues: ({ values }) =>
      `The request body may have at most ${values} values (objects, arrays and all that is in them). Send less at once.`,
    bodyNotObject: () => 'The request body must be a JSON object.',
    bodyTooLarge: ({ maxBytes }) => `The request body must be at most ${maxBytes} bytes.`,
    invalidIdempotencyKey: ({ invalid }) =>
      `The Idempotency-Key header must be given once, as 1 to 255 visible ASCII characters and blanks${invalid ? `: character ${invalid.position} is ${invalid.codePoint}` : ''}.`,
    invalidSource: ({ maxLength }) =>
      `The query parameter source must be given once, as 1 to ${maxLength} letters, digits, dots, underscores or hyphens.`,
    idempotencyKeyReused: () =>
      'The Idempotency-Key was already used with another request body. Use a new key for a new request.',
    workItemNotFound: ({ workItemId }) => `Work item ${workItemId} does not exist.`,
    workItemTooLarge: ({ workItemId }) =>
      `Work item ${workItemId} has too much stored data to be marked deleted. Shorten its data first.`,
    versionDiffers: ({ given, stored }) =>
      `version must be the stored version of the work item, which is ${stored}, not ${given}.`,
    contentTypeOfItems: () =>
      'The Content-Type header must be application/json, application/ndjson, application/jsonl or application/x-ndjson.',
    noItemTaken: ({ list, refused, more }) =>
      `${itemTextsOf(list, refused).join('; ')}${more > 0 ? `; and ${more} more` : ''}. Nothing of this request was taken.`,
    alertNotFound: ({ alertId }) => `Alert ${alertId} does not exist.`,
    endedAlertsUnnamed: () =>
      'is_active may be false only with start_time and end_time, or with alert_ids or alert_keys.',
    namedAlertsWithTimes: () =>
      'alert_ids and alert_keys cannot be combined with start_time and end_time: leave out either.',
    tooManyNamed: ({ fields, given, maximum }) =>
      `${fields.join(' and ')} must have at most ${maximum} items together, not ${given}.`,
    rumResourceNotFound: () => 'The account has no RUM resource.',
    mergeTargetsNotFound: ({ named, more, unread }) =>
      `Not found: ${named.map(({ kind, id }) => `${kind} ${id}`).join(', ')}${more > 0 ? ` and ${more} more` : ''}. Nothing was merged.${unread > 0 ? ` There may be more: ${unread} alerts were not looked up.` : ''}`,
    alertsTooLarge: ({ named, more }) =>
      `These alerts have too much stored data to be merged: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}. Shorten their data first. Nothing was merged.`,
    incidentTooLarge: ({ incidentId }) =>
      `Incident ${incidentId} has too much stored data to be changed. Shorten its data first. Nothing was merged.`,
    mergesPending: ({ pending }) =>
      `${pending} large merges of this account are still moving alerts. Nothing was merged. Try again after the time in the Retry-After header.`,
    mergesWriteTooMuch: ({ limit, windowSeconds }) =>
      `The merges of this account write too much: at most ${limit} write units per ${windowSeconds} seconds, two for each KB of an alert. Nothing was merged. Try again after the time in the Retry-After header, or merge fewer alerts at a time.`,
    permissionMissing: ({ permission }) =>
      `The account lacks the permission ${permission}, which this operation requires. Only an operator of the service can grant it.`,
    tooFrequent: ({ limit, windowSeconds }) =>
      `Too many requests: at most ${limit} per ${windowSeconds === 1 ? 'second' : `${windowSeconds} seconds`}. ` +
      'Try again after the time in the Retry-After header.',
    tooManyItems: ({ limit, windowSeconds }) =>
      `Too many records and alerts: this account may send at most ${limit} per ${windowSeconds} seconds, each counted once for each KB begun. None of this request was taken. Try again after the time in the Retry-After header.`,
    writesFrozen: () =>
      'Changes are suspended for maintenance; reading goes on. Try again after the time in the Retry-After header.',
    standby: () =>
      'This region is a standby: it takes no changes. Send them to the region that serves, or try again after the time in the Retry-After header.',
    serviceMapDisabled: () => 'The service map is not enabled on this deployment.',
    methodNotAllowed: ({ allow }) => `This path accepts ${allow} only.`,
    itemTooLong: ({ bytes, maxBytes }) => `must be at most ${maxBytes} bytes: it has ${bytes}.`,
    itemNotJson: ({ column }) => `must be valid JSON: it has a syntax error at column ${column}.`,
    itemNotObject: () => 'must be a JSON object.',
    itemTooDeep: ({ field, levels }) => `${subject(field)}must not be nested deeper than ${levels} levels.`,
    itemNamesInvalid: ({ field, maxLength }) =>
      `${subject(field)}must not contain field names that are empty, longer than ${maxLength} characters, __proto__ or not well-formed Unicode.`,
    itemOfSns: () =>
      'is the envelope of an SNS notification: switch on raw message delivery for the subscription of the topic.',
    itemOfRefusedCall: () =>
      'is no record, but what a caller sent and the feed refused: it is kept to be looked at. Delete it from this queue.',
    accountDiffers: ({ accountId }) => `account_id must be ${accountId}, or left out.`,
    fieldUnknown: ({ field }) => `${field} is not a field of this kind.`,
    fieldReserved: ({ field }) => `${field} is reserved: rename the field.`,
    numberNotStorable: ({ field }) =>
      `${field} must not contain integers beyond the int64 range, fractions closer to 0 than 1e-130, or fractions that a double rounds to an integer.`,
    clockAhead: ({ field, aheadMs }) =>
      `${field} is ${aheadMs} ms after the record was sent: set the clock that it is from.`,
    notExactlyOne: ({ fields }) => `exactly one of ${fields.join(' and ')} is required.`,
    alertKeyRequired: ({ field }) => `${field} requires an alert_key in place of alert_id.`,
    incidentIdZero: () => 'incident_id must not be all zeros: merges store that for no incident.',
    versionNotDeletable: ({ maximum }) =>
      `version must be at most ${maximum}, unless the work item is deleted: deletion adds 1.`,
    alertWithoutTitle: () => 'must have an annotation summary or description, or a label.',
    alertWithoutIdentity: () => 'must have a fingerprint or a label.',
  },
};
