/** A proxy that makes a service break a rule of the contract: it changes calls or answers. */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { parseJson, stringifyJson } from '../../../lib/shared/json.ts';
import { listen } from '../../../test/support/listen.ts';

export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  raw: Buffer;
  /** `raw`, parsed; empty if it is not JSON. Only `raw` is sent, so a break must change that. */
  // biome-ignore lint/suspicious/noExplicitAny: a break changes whatever the body holds
  body: any;
}

export interface Reply {
  status: number;
  headers: Record<string, string | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: a break changes whatever the answer holds
  body: any;
}

export type Pass = (call: Call) => Promise<Reply>;
export type Break = (call: Call, pass: Pass) => Promise<Reply>;

/** Headers that concern one connection only, which are not passed on. */
const HOP_BY_HOP = ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'keep-alive'];
const withoutHopByHop = (headers: Iterable<[string, string]>) =>
  [...headers].filter(([name]) => !HOP_BY_HOP.includes(name));

function bodyOf(raw: Buffer): unknown {
  try {
    return parseJson(raw.toString()) ?? {};
  } catch {
    return {};
  }
}

async function send(target: string, { method, path, query, headers, raw }: Call): Promise<Reply> {
  const response = await fetch(`${target}${path}?${query}`, {
    method,
    headers: withoutHopByHop(Object.entries(headers)),
    ...(raw.length > 0 && { body: new Uint8Array(raw) }),
  });
  const { 'content-encoding': _decoded, ...endToEnd } = Object.fromEntries(withoutHopByHop(response.headers));
  const text = await response.text();
  return { status: response.status, headers: endToEnd, body: text === '' ? undefined : parseJson(text) };
}

export async function startProxy(target: string, broken: Break): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (incoming, outgoing) => {
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'http://localhost');
    const headers = incoming.headers as Record<string, string>;
    const raw = await buffer(incoming);
    const call = { method: incoming.method ?? 'GET', path, query, headers, raw, body: bodyOf(raw) };
    const reply = await broken(call, (changed) => send(target, changed));
    outgoing.writeHead(reply.status, Object.fromEntries(Object.entries(reply.headers).filter(([, value]) => value)));
    outgoing.end(reply.body === undefined ? '' : stringifyJson(reply.body));
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${await listen(server)}`, close };
}
