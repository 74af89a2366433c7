/** An HTTP proxy between the SDK and a DynamoDB-compatible server that can change each call. */
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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

export interface DynamoDbProxy {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** @param handle answers each call through `reply`; the connection ends when it throws */
export async function startDynamoDbProxy(
  target: string,
  handle: (call: WireCall, reply: ServerResponse, send: Send) => Promise<void>,
): Promise<DynamoDbProxy> {
  const agent = new Agent({ keepAlive: true });

  const server = createServer((incoming, reply) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const {
        'x-amz-target': operation = '',
        'x-amz-date': date = '',
        'content-type': type = '',
        authorization = '',
      } = incoming.headers;
      const [service = '', action = ''] = String(operation).split('.');
      const call = { action, body: Buffer.concat(chunks) };
      const send: Send = (other = call) =>
        forward(
          {
            'content-type': type,
            'x-amz-target': `${service}.${other.action}`,
            authorization,
            'x-amz-date': date,
            'content-length': other.body.length,
          },
          other.body,
        );
      await handle(call, reply, send);
    })().catch(() => reply.destroy());
  });

  function forward(headers: Record<string, string | string[] | number>, body: Buffer): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(target, { method: 'POST', agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const kept = Object.entries(response.headers).filter(([name]) => /^(content-type|x-amz)/.test(name));
          resolve({
            status: response.statusCode ?? 500,
            headers: { ...(Object.fromEntries(kept) as Record<string, string>), 'content-length': bytes.length },
            body: bytes,
          });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  await once(server.listen({ port: 0, host: '127.0.0.1', backlog: 1_000 }), 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
