/** How API Gateway parses a request before routing: docs/aws-behaviour.md has the rules and their sources. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { GatewayRefusal } from './gateway-response.ts';

const MAX_URL_BYTES = 10_240;
const MAX_HEADER_BYTES = 10_240;
const MAX_BODY_BYTES = 10_485_760;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
const DECODERS = { gzip: promisify(gunzip), deflate: promisify(inflate) };

export type Target = ReturnType<typeof readTarget>;

/**
 * A request's path, not decoded and without the leading slashes beyond the first, and its query. An absolute-form target is read
 * without its scheme and authority.
 */
export function readTarget({ url = '/' }: Pick<IncomingMessage, 'url'>) {
  const relative = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '');
  const [, pathAsSent = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(relative) ?? [];
  return { path: pathAsSent.replace(/^\/*/, '/'), pathAsSent: pathAsSent || '/', query: new URLSearchParams(query) };
}

/** The id of a request: the UUID that the caller chose, or a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const chosen = headers['x-amzn-requestid'];
  return typeof chosen === 'string' && UUID.test(chosen) ? chosen : randomUUID();
}

/** @throws GatewayRefusal for a method that API Gateway does not support */
export function methodOf({ method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>): string {
  const override = headers['x-http-method-override'];
  const wanted = typeof override === 'string' ? override : method;
  if (!METHODS.has(wanted)) throw new GatewayRefusal('MISSING_AUTHENTICATION_TOKEN');
  return wanted;
}

/** @throws GatewayRefusal for a URL or headers that are too long, or a missing host */
export function checkHead({ url = '', rawHeaders, headers }: IncomingMessage): void {
  // Each name is followed by `: `, each value by a line break.
  const headerBytes = rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text, 'latin1') + 2, 0);
  if (url.length > MAX_URL_BYTES || headerBytes > MAX_HEADER_BYTES || !headers.host)
    throw new GatewayRefusal('DEFAULT_4XX');
}

/**
 * Reads a request body and decompresses it, as API Gateway does.
 * @throws GatewayRefusal
 */
export async function readBody(request: IncomingMessage, minCompressionSize: number | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Reads an oversized body to its end, since some clients read no answer before they have sent all.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size > MAX_BODY_BYTES) throw new GatewayRefusal('PAYLOAD_TOO_LARGE');
  const body = Buffer.concat(chunks);
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity') return body;
  if (coding !== 'gzip' && coding !== 'deflate') throw new GatewayRefusal('UNSUPPORTED_MEDIA_TYPE');
  if (size < (minCompressionSize ?? 0)) return body;
  return DECODERS[coding](body, { maxOutputLength: MAX_BODY_BYTES }).catch((error: NodeJS.ErrnoException) => {
    throw new GatewayRefusal(error.code === 'ERR_BUFFER_TOO_LARGE' ? 'PAYLOAD_TOO_LARGE' : 'UNSUPPORTED_MEDIA_TYPE');
  });
}
