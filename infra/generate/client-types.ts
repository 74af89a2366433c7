/** Writes the types of the client from the OpenAPI document: `npm run openapi`. A test compares them with what this makes today. */
import { writeFileSync } from 'node:fs';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { openApiDocument } from './openapi.ts';

export const CLIENT_TYPES_FILE = new URL('../../client/types.ts', import.meta.url);

interface Media {
  content: { 'application/json': { schema: { properties?: { data?: object } } } };
}
interface Post {
  operationId: string;
  requestBody: Media;
  responses: { 200: Media };
}

/** Integers of 64 bits are numbers while those are exact, bigints beyond. */
const withInt64 = (schema: object): object =>
  JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.format === 'int64' ? { tsType: 'number | bigint', description: value.description } : value,
  );

export async function clientTypes(): Promise<string> {
  const { paths } = openApiDocument() as { paths: Record<string, { post: Post }> };
  const parts = ['// Generated from openapi.json by `npm run openapi`: do not edit.\n'];
  for (const { post } of Object.values(paths)) {
    const { operationId, requestBody, responses } = post;
    const name = operationId[0]?.toUpperCase() + operationId.slice(1);
    const options = { bannerComment: '', additionalProperties: false, format: false, maxItems: -1 };
    const request = withInt64(requestBody.content['application/json'].schema);
    const data = withInt64(responses[200].content['application/json'].schema.properties?.data ?? {});
    parts.push(await compile({ ...request, additionalProperties: false } as JSONSchema, `${name}Request`, options));
    parts.push(await compile(data as JSONSchema, `${name}Data`, options));
  }
  return parts.join('\n');
}

if (import.meta.main) writeFileSync(CLIENT_TYPES_FILE, await clientTypes());
