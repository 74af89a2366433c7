import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { listOf } from '../lib/http/call.ts';
import { stringifyJson } from '../lib/shared/json.ts';
import document from '../openapi.json' with { type: 'json' };

/** Parsing rounds the bounds that a double cannot hold: they are also there as text. */
const exactBounds = (_key: string, value: unknown) =>
  typeof value === 'object' && value !== null && 'x-maximum' in value
    ? { ...value, maximum: BigInt(String(value['x-maximum'])) }
    : value;
const body = stringifyJson(JSON.parse(JSON.stringify(document), exactBounds));
const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
const headers = { 'Cache-Control': 'public, max-age=300', ETag: etag, 'Access-Control-Allow-Origin': '*' };

/** Serves openapi.json, with an ETag for callers that already have it. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const has = listOf(event, 'if-none-match')?.includes(etag);
  return has
    ? { statusCode: 304, headers, body: '' }
    : { statusCode: 200, headers: { ...headers, 'Content-Type': 'application/json' }, body };
};
