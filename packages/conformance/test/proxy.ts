/** A proxy before a service that breaks a rule. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { parseJson, stringifyJson } from '../../../lib/shared/json.ts';

export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  raw: Buffer;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a break changes whatever the answer holds
  body: any;
}

export type Break = (call: Call, pass: (call: Call) => Promise<Reply>) => Reply | Promise<Reply>;

const HOP = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'keep-alive']);

async function pass(target: string, { method, path, query, headers, raw }: Call): Promise<Reply> {
  const response = await fetch(`${target}${path}${query.size > 0 ? `?${query}` : ''}`, {
    method,
    headers: Object.entries(headers).filter(([name]) => !HOP.has(name)),
    ...(raw.length > 0 && { body: new Uint8Array(raw) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(
      [...response.headers].filter(([name]) => !HOP.has(name) && name !== 'content-encoding'),
    ),
    body: text === '' ? undefined : parseJson(text),
  };
}

export async function startProxy(target: string, broken: Break): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (incoming, outgoing) => {
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'http://localhost');
    const { method = 'GET' } = incoming;
    const headers = incoming.headers as Record<string, string>;
    const call = { method, path, query, headers, raw: await buffer(incoming) };
    const reply = await broken(call, (changed) => pass(target, changed));
    outgoing.writeHead(reply.status, reply.headers);
    outgoing.end(reply.body === undefined ? '' : stringifyJson(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
