/** An HTTP proxy between the SDK and a DynamoDB-compatible server that can change each call. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One HTTP request: the SDK sends one for each attempt. */
export interface WireCall {
  /** Action of DynamoDB's API, such as `UpdateItem`. */
  readonly action: string;
  readonly body: Buffer;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
}

/** Forwards this call, or another one in its place, to the server. */
export type Send = (replacement?: WireCall) => Promise<WireAnswer>;

/** An answer with this JSON, as DynamoDB sends it. */
export const jsonAnswer = (status: number, content: object): WireAnswer => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(JSON.stringify(content)),
});

/**
 * @param handle returns the answer to each call; undefined: it does with `reply` what it likes. If it throws, the connection is closed
 * @param authorizationOf changes the signature of each call
 */
export async function startDynamoDbProxy(
  target: string,
  handle: (call: WireCall, send: Send, reply: ServerResponse) => Promise<WireAnswer | undefined>,
  authorizationOf = (signed: string) => signed,
) {
  const agent = new Agent({ keepAlive: true });

  /** Sends a call to the target with the headers, and so the signature, of the incoming request. */
  async function forward({ action, body }: WireCall, incoming: IncomingMessage): Promise<WireAnswer> {
    const { headers: signed } = incoming;
    const headers = {
      'content-type': signed['content-type'] ?? '',
      'x-amz-target': String(signed['x-amz-target']).replace(/[^.]*$/, action),
      authorization: authorizationOf(signed.authorization ?? ''),
      'x-amz-date': signed['x-amz-date'] ?? '',
      'content-length': body.length,
    };
    const outgoing = request(target, { method: 'POST', agent, headers }).end(body);
    outgoing.on('error', () => {}); // `once` reports an error before the response, `buffer` a later one
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const bytes = await buffer(response);
    const passedOn = Object.entries(response.headers).filter(([name]) => /^(content-type|x-amz)/.test(name));
    return {
      status: response.statusCode ?? 500,
      headers: { ...(Object.fromEntries(passedOn) as Record<string, string>), 'content-length': bytes.length },
      body: bytes,
    };
  }

  const server = createServer((incoming, reply) => {
    void (async () => {
      const [, action = ''] = String(incoming.headers['x-amz-target']).split('.');
      const call = { action, body: await buffer(incoming) };
      const answer = await handle(call, (replacement = call) => forward(replacement, incoming), reply);
      if (answer) reply.writeHead(answer.status, answer.headers).end(answer.body);
    })().catch(() => reply.destroy());
  });

  await once(server.listen({ port: 0, host: '127.0.0.1', backlog: 1_000 }), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** The endpoint with the target's credentials, since calls are forwarded as signed. */
    endpoint: Object.assign(new URL(target), { protocol: 'http', hostname: '127.0.0.1', port }).href.replace(/\/$/, ''),
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve)); // does not fail if already closed
    },
  };
}
