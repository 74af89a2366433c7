/** Compression as API Gateway does it, of request bodies and of answers. */
import { promisify } from 'node:util';
import { deflate, gunzip, gzip, inflate } from 'node:zlib';
import Negotiator from 'negotiator';
import { GatewayRefusal } from './gateway-response.ts';

/** The codings that API Gateway supports. */
const CODINGS = {
  gzip: { compress: promisify(gzip), decompress: promisify(gunzip) },
  deflate: { compress: promisify(deflate), decompress: promisify(inflate) },
};
const isSupported = (coding = ''): coding is keyof typeof CODINGS => Object.hasOwn(CODINGS, coding);

/**
 * Decompresses a request body, unless it has fewer bytes than `minCompressionSize`.
 * @throws GatewayRefusal for an unsupported coding, a body that is not in the coding of its header, or one of more than `maxBytes`
 */
export async function decompress(
  body: Buffer,
  contentEncoding: string | undefined,
  minCompressionSize: number,
  maxBytes: number,
): Promise<Buffer> {
  const coding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity') return body;
  if (!isSupported(coding)) throw new GatewayRefusal('UNSUPPORTED_MEDIA_TYPE');
  if (body.length < minCompressionSize) return body;
  try {
    return await CODINGS[coding].decompress(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new GatewayRefusal(isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'UNSUPPORTED_MEDIA_TYPE');
  }
}

/** Compresses the body of an answer if it is large enough and has no coding yet, in the coding that the caller prefers. */
export async function compress(
  body: Buffer,
  headers: Readonly<Record<string, unknown>>,
  acceptEncoding: string | undefined,
  minCompressionSize: number,
): Promise<{ body: Buffer; coding?: string }> {
  if (acceptEncoding === undefined || body.length < minCompressionSize) return { body };
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'content-encoding')) return { body };
  const [coding] = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings();
  return isSupported(coding) ? { body: await CODINGS[coding].compress(body), coding } : { body };
}
