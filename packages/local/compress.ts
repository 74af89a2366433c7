import { promisify } from 'node:util';
import { deflate, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

const CODINGS = { gzip: promisify(gzip), deflate: promisify(deflate) };

/**
 * Compresses the body of an answer as API Gateway does: if it is large enough, has no coding yet, and the coding that the caller prefers is
 * one that API Gateway supports.
 */
export async function compress(
  body: Buffer,
  headers: Readonly<Record<string, unknown>>,
  acceptEncoding: string | undefined,
  minCompressionSize: number | undefined,
): Promise<{ body: Buffer; coding?: string }> {
  if (acceptEncoding === undefined || minCompressionSize === undefined || body.length < minCompressionSize)
    return { body };
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'content-encoding')) return { body };
  const [coding] = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings();
  if (coding !== 'gzip' && coding !== 'deflate') return { body };
  return { body: await CODINGS[coding](body), coding };
}
