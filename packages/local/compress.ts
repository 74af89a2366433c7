import { promisify } from 'node:util';
import { deflate, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

const CODINGS = { gzip: promisify(gzip), deflate: promisify(deflate) };

/**
 * The body of an answer as API Gateway sends it: compressed if it is large enough, not encoded yet, and the caller's preferred coding is
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
