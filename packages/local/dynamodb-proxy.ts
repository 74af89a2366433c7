/** An HTTP proxy between the SDK and a DynamoDB-compatible server that can change each call. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One call on the wire; an attempt of the SDK's is one. */
export interface WireCall {
  /** Of DynamoDB's API, such as `UpdateItem`. */
  readonly action: string;
  readonly body: Buffer;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
}

/** Sends this call, or another, to the engine. */
export type Send = (other?: WireCall) => Promise<WireAnswer>;

/** @param handle answers each call through `reply`; the connection ends when it throws */
export async function startDynamoDbProxy(
  target: string,
  handle: (call: WireCall, reply: ServerResponse, send: Send) => Promise<void>,
) {
  const agent = new Agent({ keepAlive: true });

  /** Sends a call as the client sent it, signature included. */
  async function forward({ action, body }: WireCall, { headers: given }: IncomingMessage): Promise<WireAnswer> {
    const headers = {
      'content-type': given['content-type'] ?? '',
      'x-amz-target': String(given['x-amz-target']).replace(/[^.]*$/, action),
      authorization: given.authorization ?? '',
      'x-amz-date': given['x-amz-date'] ?? '',
      'content-length': body.length,
    };
    const outgoing = request(target, { method: 'POST', agent, headers }).end(body);
    outgoing.on('error', () => {}); // also after the answer has begun: reading that fails then
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const bytes = await buffer(response);
    const kept = Object.entries(response.headers).filter(([name]) => /^(content-type|x-amz)/.test(name));
    return {
      status: response.statusCode ?? 500,
      headers: { ...(Object.fromEntries(kept) as Record<string, string>), 'content-length': bytes.length },
      body: bytes,
    };
  }

  const server = createServer((incoming, reply) => {
    void (async () => {
      const [, action = ''] = String(incoming.headers['x-amz-target']).split('.');
      const call = { action, body: await buffer(incoming) };
      await handle(call, reply, (other = call) => forward(other, incoming));
    })().catch(() => reply.destroy());
  });

  await once(server.listen({ port: 0, host: '127.0.0.1', backlog: 1_000 }), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** With the credentials of the target: calls go on as they were signed. */
    endpoint: Object.assign(new URL(target), { protocol: 'http', hostname: '127.0.0.1', port }).href.replace(/\/$/, ''),
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve)); // also when it is closed already
    },
  };
}
