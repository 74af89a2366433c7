/** Changes of the OpenAPI document: those that the compatibility check must find, and those that it must accept. */

// biome-ignore lint/suspicious/noExplicitAny: a change reaches into whatever the document holds
type Change = readonly [name: string, change: (document: any) => unknown];

const MERGE = '/alert/merge';
const MERGE_REQUEST = 'MergeAlertsRequest';

export const BREAKING: readonly Change[] = [
  ['a path is removed', ({ paths }) => delete paths[MERGE]],
  ['a status is removed', ({ paths }) => delete paths[MERGE].post.responses[413]],
  [
    'a header of an answer is removed',
    ({ components }) => delete components.responses.TooManyRequests.headers['Retry-After'],
  ],
  [
    'a header of an answer has another type',
    ({ components }) => Object.assign(components.headers['Retry-After'].schema, { type: 'string' }),
  ],
  ['a parameter is removed', ({ paths }) => paths[MERGE].post.parameters.pop()],
  [
    'a parameter becomes required',
    ({ components }) => Object.assign(components.parameters.IdempotencyKey, { required: true }),
  ],
  [
    'a parameter may be less long',
    ({ components }) => Object.assign(components.parameters.IdempotencyKey.schema, { maxLength: 64 }),
  ],
  [
    'a body becomes required',
    ({ paths }) => Object.assign(paths['/rum/resource/info'].post.requestBody, { required: true }),
  ],
  ['a request field becomes required', ({ components }) => components.schemas[MERGE_REQUEST].required.push('comment')],
  ['a request field is removed', ({ components }) => delete components.schemas[MERGE_REQUEST].properties.comment],
  [
    'a request field has a smaller maximum',
    ({ components }) => Object.assign(components.schemas.BrowseFleetRequest.properties.limit, { maximum: 50 }),
  ],
  [
    'a request field has another default',
    ({ components }) => Object.assign(components.schemas.BrowseFleetRequest.properties.limit, { default: 20 }),
  ],
  ['a request takes fewer values', ({ components }) => components.schemas.CaptureMode.enum.pop()],
  ['a field of an answer is removed', ({ components }) => delete components.schemas.FleetPage.properties.coverage],
  ['a field of an answer may be missing', ({ components }) => components.schemas.FleetPage.required.pop()],
  [
    'a field of an answer has another type',
    ({ components }) => Object.assign(components.schemas.FleetPage.properties.partial, { type: 'string' }),
  ],
  ['an answer has a new value', ({ components }) => components.schemas.FleetStatus.enum.push('paused')],
  ['an error code is removed', ({ components }) => components.schemas.ErrorCode.enum.pop()],
  ['an operation has another id', ({ paths }) => Object.assign(paths[MERGE].post, { operationId: 'merge' })],
];

export const HARMLESS: readonly Change[] = [
  [
    'a new optional request field',
    ({ components }) => Object.assign(components.schemas[MERGE_REQUEST].properties, { more: { type: 'string' } }),
  ],
  [
    'a new field of an answer',
    ({ components }) => Object.assign(components.schemas.FleetPage.properties, { more: { type: 'string' } }),
  ],
  [
    'a larger maximum',
    ({ components }) => Object.assign(components.schemas.BrowseFleetRequest.properties.limit, { maximum: 500 }),
  ],
];
