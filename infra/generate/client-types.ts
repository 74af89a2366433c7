/** The client's types, by the OpenAPI document. */
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { openApiDocument } from './openapi.ts';

type Schema = Record<string, unknown>;

const isInt64 = (schema: unknown): schema is Schema =>
  typeof schema === 'object' && schema !== null && 'format' in schema && schema.format === 'int64';

/** Whether an int64 may be too large for a double: any in a request may, in a response only what others set. Counts, times and days are small. */
const mayExceedDouble = (isRequest: boolean, field: string) =>
  isRequest || field.endsWith('_id') || field === 'report_interval_ms';

/** Adds a number's range and default to its description, since json-schema-to-typescript omits both. */
function withRange(schema: Schema): Schema {
  const { description, minimum, maximum, 'x-maximum': exactMaximum, default: defaultValue } = schema;
  if (maximum === undefined) return schema;
  const upperBound = exactMaximum ?? maximum;
  const range = !String(description).includes(`to ${upperBound}`) && `from ${minimum} to ${upperBound}`;
  const parts = [description, range, defaultValue !== undefined && `default ${defaultValue}`].filter(Boolean);
  return { ...schema, description: parts.join('; ') };
}

/**
 * Converts a part of the document for json-schema-to-typescript: references point to `definitions`, and an integer that may exceed a double
 * gets the type `number | bigint`.
 */
function prepared(value: unknown, isRequest: boolean, field = ''): unknown {
  if (Array.isArray(value)) return value.map((element) => prepared(element, isRequest));
  if (typeof value === 'string' && field === '$ref') return value.replace('#/components/schemas/', '#/definitions/');
  if (typeof value !== 'object' || value === null) return value;
  const described = withRange(value as Schema);
  if (isInt64(value) && mayExceedDouble(isRequest, field))
    return { tsType: 'number | bigint', description: described.description };
  return Object.fromEntries(
    Object.entries(described)
      .filter(([key]) => key !== 'default')
      .map(([key, member]) => [key, prepared(member, isRequest, key)]),
  );
}

const refName = ($ref: string) => $ref.split('/').at(-1) ?? '';

/** Paths of the integers in answers that the client returns as numbers, such as `["items","servicemap","node_count"]`. */
function numberPaths(schemas: Record<string, Schema>): string[] {
  const paths: string[] = [];
  function collect(schema: Schema, path: string[]): void {
    const { $ref, type, items, properties = {} } = schema;
    if (typeof $ref === 'string') collect(schemas[refName($ref)] ?? {}, path);
    else if (items) collect(items as Schema, path);
    else if (type === 'integer' && !mayExceedDouble(false, path.at(-1) ?? '')) paths.push(JSON.stringify(path));
    for (const [field, member] of Object.entries(properties as Record<string, Schema>))
      collect(member, [...path, field]);
  }
  for (const [name, { properties }] of Object.entries(schemas))
    if (name.endsWith('Envelope')) collect((properties as { data?: Schema }).data ?? {}, []);
  return [...new Set(paths)];
}

interface DescribedOperation {
  operationId: string;
  summary: string;
  parameters: { $ref: string }[];
  requestBody: { required: boolean; content: Content };
  responses: { 200: { content: Content } };
}
type Ref = { $ref: string };
interface Content {
  /** Of several forms of a body, the client sends the first. */
  'application/json': { schema: Ref | { anyOf: [Ref] } };
}

const isIdempotent = ({ parameters }: DescribedOperation) =>
  parameters.some(({ $ref }) => $ref.endsWith('/IdempotencyKey'));

const nameIn = ({ 'application/json': { schema } }: Content) =>
  refName('anyOf' in schema ? schema.anyOf[0].$ref : schema.$ref);

/** The declaration of the method for an operation without an idempotency key; '' for another operation. */
function methodOf(operation: DescribedOperation, schemas: Record<string, Schema>, types: readonly string[]): string {
  const { operationId, summary, requestBody, responses } = operation;
  if (isIdempotent(operation)) return '';
  const envelope = schemas[nameIn(responses[200].content)];
  const properties = envelope?.properties as { data?: { $ref?: string } } | undefined;
  const type = refName(properties?.data?.$ref ?? '');
  const request = `request${requestBody.required ? '' : '?'}: ${nameIn(requestBody.content)}`;
  return `  /** ${summary}. */\n  ${operationId}(${request}, options?: CallOptions): Promise<${types.includes(type) ? type : 'void'}>;\n`;
}

function commandOf(operation: DescribedOperation): string {
  const { operationId: method, summary } = operation;
  const name = method.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `  ${JSON.stringify(name)}: ${JSON.stringify({ method, summary, isIdempotent: isIdempotent(operation) })},\n`;
}

/** A remark that json-schema-to-typescript adds to each definition, and that is removed. */
const REFERENCED_REMARK =
  /(\n \*)?\n \* This interface was referenced by `Types`'s JSON-Schema\n \* via the `definition` ".*"\./g;

export async function clientTypes(): Promise<string> {
  const { components, paths } = openApiDocument() as {
    components: { schemas: Record<string, Schema> };
    paths: Record<string, { post: DescribedOperation }>;
  };
  const { schemas } = components;
  // The client removes the envelope.
  const isEmpty = ({ type, properties }: Schema) => type === 'object' && Object.keys(properties ?? {}).length === 0;
  const names = Object.entries(schemas).flatMap(([name, schema]) =>
    /Envelope$|^Error$|^RequestId$/.test(name) || isEmpty(schema) ? [] : [name],
  );
  const definitions = Object.fromEntries(
    names.map((name) => [name, prepared(schemas[name], /(Request|Record)$/.test(name))]),
  );
  const text = await compile({ title: 'Types', type: 'object', definitions } as JSONSchema, 'Types', {
    bannerComment: '',
    additionalProperties: false,
    unreachableDefinitions: true,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 120 },
  });
  return [
    "// Generated from openapi.json by `npm run generate`: do not edit.\nimport type { CallOptions, Command } from './options.ts';\n",
    text
      .replace(/^export interface Types \{\}\n/m, '')
      .replace(REFERENCED_REMARK, '')
      .replaceAll('/**\n */\n', ''),
    '/** The path of each operation: the client has a method for each. */',
    `export const PATHS = {\n${Object.entries(paths)
      .map(([path, { post }]) => `  ${post.operationId}: '${path}',\n`)
      .join('')}} as const;\n`,
    '/** The operations without an idempotency key. */',
    `export interface PlainMethods {\n${Object.values(paths)
      .map(({ post }) => methodOf(post, schemas, names))
      .join('')}}\n`,
    '/** The operations as commands. */',
    `export const COMMANDS: Readonly<Record<string, Command>> = {\n${Object.values(paths)
      .map(({ post }) => commandOf(post))
      .join('')}};\n`,
    '/** Integer fields of answers that the client gives as numbers; each is a JSON array of names. */',
    `export const NUMBER_PATHS: ReadonlySet<string> = new Set([\n${numberPaths(schemas)
      .map((path) => `  '${path}',\n`)
      .join('')}]);\n`,
  ].join('\n');
}
