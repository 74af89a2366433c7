/** `openapi.json` (OpenAPI 3.1), by the list of operations, the schemas that validate requests, and the table of error codes. */
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { BODY_BOUNDS } from '../../lib/http/body.ts';
import { ERROR_CODES } from '../../lib/http/errors.ts';
import { LINES_TYPES } from '../../lib/http/item-texts.ts';
import { type Tag, THROTTLE } from '../../lib/http/operation.ts';
import { itemBudget } from '../../lib/http/rate-limit.ts';
import { type ListedOperation, operationIdOf, operations } from '../../lib/operations/index.ts';
import { addComponents, ENVELOPE_SCHEMAS, HEADERS, meaningOf, PARAMETERS, schemaRef } from './components.ts';
import { defaultSettings, errorExamples, REQUEST_ID } from './examples.ts';
import { RECORD_SCHEMAS } from './record-schemas.ts';

const count = (number: number) => number.toLocaleString('en');

const TAGS: Readonly<Record<Tag, string>> = {
  Monitoring: 'Hosts and the state of their network-topology collection',
  RUM: 'Real-user monitoring: plan, quotas, usage',
  Incidents: 'Alerts, incidents and work items',
  Feed: 'Records and alerts from other systems',
};

/** What the document says about a status in addition to its codes. */
const NOTES: Readonly<Record<number, readonly string[]>> = {
  400: [
    'API Gateway itself responds `BadRequest`, in English, to a malformed request, a URL or headers of more than 10,240 bytes, ' +
      'and a body whose `Content-Encoding` is not gzip or deflate.',
  ],
  401: ['API Gateway itself responds, in English, to a missing or empty `app_key`.'],
  413: ['Above about 4.5 MB API Gateway itself responds, without an envelope: go by the status.'],
  503: [
    'Every operation can respond so: a dependency is down, throttled or too slow. No change is lost by trying again.',
  ],
};

/** The schema of a request. Each item that the function checks by itself is a record, unless the operation has a schema for it. */
function published({ request, budgeted, itemSchema = schemaRef('IngestRecord') }: ListedOperation): object {
  if (budgeted === undefined) return request;
  const { [budgeted]: list, ...others } = request.properties as Record<string, object>;
  return {
    ...(request as object),
    properties: { ...others, [budgeted]: { ...list, items: itemSchema } },
  };
}

/** The bodies of an operation. Where it takes a list as texts, the body may also be that list alone, or have an item a line. */
function bodiesOf(operation: ListedOperation, schemas: Parameters<typeof addComponents>[1]): object {
  const { example, itemTexts, request } = operation;
  const schema = addComponents(published(operation), schemas);
  if (itemTexts === undefined) return { 'application/json': { schema, example: example.request } };
  const list = { ...(request.properties as Record<string, object>)[itemTexts], items: schemaRef('IngestRecord') };
  const items = (example.request as Record<string, object[]>)[itemTexts] ?? [];
  const lines = {
    schema: { type: 'string', description: 'A record a line, each as `IngestRecord` describes it' },
    example: items.map((item) => JSON.stringify(item)).join('\n'),
  };
  return {
    'application/json': { schema: { anyOf: [schema, list] }, example: example.request },
    ...Object.fromEntries(LINES_TYPES.map((type) => [type, lines])),
  };
}

const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

const headers = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const RATE_HEADERS = headers(
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
);

/** The response for `errors`, which all have this HTTP status. */
function errorResponse(status: number, errors: ReturnType<typeof errorExamples>, rateHeaders: object): object {
  const examples = errors.map(([code, { summary, ...error }]) => {
    return [code, { summary, value: { request_id: REQUEST_ID, error: { code, ...error } } }];
  });
  return {
    description: [...errors.map(([code]) => `\`${code}\`: ${meaningOf(code)}`), ...(NOTES[status] ?? [])].join('\n\n'),
    headers: {
      ...headers('Svc-Request-Id', 'Content-Language'),
      ...(status === 429 || status === 503 ? headers('Retry-After') : {}),
      ...(status === 429 || status >= 500 ? rateHeaders : {}),
    },
    content: { 'application/json': { schema: schemaRef('ErrorEnvelope'), examples: Object.fromEntries(examples) } },
  };
}

export function openApiDocument(): object {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const schemas = new Map(Object.entries({ ...ENVELOPE_SCHEMAS, ...RECORD_SCHEMAS }));
  const responses = new Map<string, object>();

  /**
   * Adds a response as a component. The first operation with a status gives its response the plain name, which the others share if theirs is
   * the same; if it differs, its name contains the operation.
   */
  function responseRef(operation: ListedOperation, status: number, response: object): object {
    const common = STATUS_CODES[status]?.replaceAll(' ', '') ?? String(status);
    const isFreeOrSame = (name: string) => JSON.stringify(responses.get(name) ?? response) === JSON.stringify(response);
    const name = isFreeOrSame(common) ? common : `${common}Of${capital(operationIdOf(operation.name))}`;
    responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  function responsesOf(operation: ListedOperation): object {
    const { name, response, rateWindows, budgeted } = operation;
    const schema = addComponents(
      {
        title: `${capital(operationIdOf(name))}Envelope`,
        type: 'object',
        description: 'The envelope of a call that succeeded',
        required: ['request_id', 'data'],
        properties: { request_id: schemaRef('RequestId'), data: response },
      },
      schemas,
    );
    const rateHeaders = rateWindows || budgeted ? RATE_HEADERS : {};
    const success = {
      description: 'Done.',
      headers: {
        ...headers('Svc-Request-Id'),
        ...rateHeaders,
        ...headers(...(operation.headers ?? [])),
        ...(operation.idempotent && headers('Idempotent-Replayed')),
      },
      content: { 'application/json': { schema, example: { request_id: REQUEST_ID, data: operation.example.data } } },
    };
    const byStatus = Map.groupBy(errorExamples(operation), ([code]) => ERROR_CODES[code].status);
    const failures = [...byStatus].map(([status, errors]) => {
      return [status, responseRef(operation, status, errorResponse(status, errors, rateHeaders))];
    });
    return { 200: success, ...Object.fromEntries(failures) };
  }

  function operationObject(operation: ListedOperation): object {
    const { name, summary, description, tag, permission, idempotent, hasSource, request, unsupported } = operation;
    const { rateWindows, budgeted, throttle = THROTTLE } = operation;
    return {
      operationId: operationIdOf(name),
      summary,
      description: unsupported
        ? `${description}\n\nRefused, since the list does not have them: ${Object.keys(unsupported)
            .map((field) => `\`${field}\``)
            .join(', ')}.`
        : description,
      tags: [tag],
      parameters: [
        { $ref: '#/components/parameters/AcceptLanguage' },
        ...(hasSource ? [{ $ref: '#/components/parameters/Source' }] : []),
        ...(idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ],
      requestBody: {
        required: 'required' in request,
        content: bodiesOf(operation, schemas),
      },
      responses: responsesOf(operation),
      ...(permission && { 'x-permission': permission }),
      ...(rateWindows && { 'x-rate-limits': rateWindows }),
      ...(budgeted && { 'x-item-limits': itemBudget(defaultSettings).rateWindows }),
      'x-throttle': throttle,
    };
  }

  // Operations without exact limits come first, so that the common responses get the plain names.
  const withoutLimitsFirst = [...operations].sort((a, b) => Number('rateWindows' in a) - Number('rateWindows' in b));
  const paths = new Map(withoutLimitsFirst.map((operation) => [operation.path, { post: operationObject(operation) }]));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Incident, monitoring and RUM service',
      version,
      description:
        `Operations, all \`POST\` with a JSON body of at most 256 KiB (unless one says otherwise), ${count(BODY_BOUNDS.levels)} levels of nesting and ${count(BODY_BOUNDS.values)} values; ` +
        'no body counts as `{}` and needs no `Content-Type`. Each response is an envelope: `request_id` and either `data` or `error`. ' +
        '`error.code` is the authoritative signal, the HTTP status is informational, and `error.message` is for people. Integers are exact over the int64 range. Fields and error codes may be ' +
        'added: ignore those that you do not know.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '.', description: 'Where this document is served' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ appKey: [] }],
    paths: Object.fromEntries(operations.map(({ path }) => [path, paths.get(path)])),
    components: {
      securitySchemes: {
        appKey: {
          type: 'apiKey',
          in: 'query',
          name: 'app_key',
          description: 'The key of an account, given once. Keep it out of logs: it is part of the URL.',
        },
      },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: Object.fromEntries(responses),
      schemas: Object.fromEntries(schemas),
    },
  };
}

/** The text of `openapi.json`. It has bounds beyond 2^53 twice: as numbers, and as strings for parsers that would round the numbers. */
export const openApiText = () =>
  `${JSON.stringify(openApiDocument(), undefined, 2).replace(/( *)"x-maximum": "(\d+)"/g, '$1"maximum": $2,\n$&')}\n`;
