import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { headerListOf } from '../lib/http/body.ts';
import { stringifyJson } from '../lib/shared/json.ts';
import document from '../openapi.json' with { type: 'json' };

/** The import rounds a `maximum` that a double cannot hold; `x-maximum` has its exact text. */
const withExactMaximum = (_key: string, value: unknown) =>
  typeof value === 'object' && value !== null && 'x-maximum' in value
    ? { ...value, maximum: BigInt(String(value['x-maximum'])) }
    : value;
const body = stringifyJson(JSON.parse(JSON.stringify(document), withExactMaximum));
const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
const headers = { 'Cache-Control': 'public, max-age=300', ETag: etag, 'Access-Control-Allow-Origin': '*' };

/** Serves openapi.json. A caller that already has this version, by its ETag, gets 304. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const isUnchanged = headerListOf(event, 'if-none-match')?.includes(etag);
  return isUnchanged
    ? { statusCode: 304, headers, body: '' }
    : { statusCode: 200, headers: { ...headers, 'Content-Type': 'application/json' }, body };
};
