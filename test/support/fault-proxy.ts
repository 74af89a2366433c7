/** A proxy between the SDK and DynamoDB Local where wire calls fail as they do in the world: real sockets, real HTTP. */
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What becomes of a wire call:
 * - `refuse`: the connection ends before DynamoDB sees it
 * - `hang`: DynamoDB never sees it, and no reply comes
 * - `error-before`, `error-after`: 500, and DynamoDB has not applied it, or has
 * - `drop`: DynamoDB applies it, and the connection ends without a reply
 * - `cut`: DynamoDB applies it, and half of the reply comes
 * - `throttle`, `conflict`, `invalid`: DynamoDB refuses it with that error
 * - `kill`: DynamoDB applies it, no reply comes, and from here on nothing of this process gets through
 * - `kill-before`: the same, and DynamoDB does not see it
 */
export const FAULTS = [
  'refuse',
  'hang',
  'error-before',
  'error-after',
  'drop',
  'cut',
  'throttle',
  'conflict',
  'invalid',
  'kill',
  'kill-before',
] as const;
export type Fault = (typeof FAULTS)[number];

/** One call on the wire; an attempt of the SDK's is one. */
export interface ProxiedCall {
  /** Counts from 1 since the faults were planned. */
  readonly number: number;
  /** Of DynamoDB's API, such as `UpdateItem`. */
  readonly action: string;
  readonly body: string;
}

export type Plan = (call: ProxiedCall) => Fault | undefined;

export interface FaultProxy {
  readonly endpoint: string;
  /** The calls since the faults were planned. */
  readonly calls: readonly ProxiedCall[];
  /** Plans faults anew, counts from 1 again, and lets the process live. */
  plan(plan?: Plan): void;
  /** Whether a kill has happened since. */
  killed(): boolean;
  close(): Promise<void>;
}

const VERSION = 'com.amazonaws.dynamodb.v20120810#';

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let calls: ProxiedCall[] = [];
  let planned: Plan = () => undefined;
  let dead = false;
  let era = 0;
  const agent = new Agent({ keepAlive: true });
  const hanging = new Set<ServerResponse>();

  const server = createServer((incoming, reply) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const action = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
      const call = { number: calls.length + 1, action, body: body.toString() };
      calls.push(call);
      await apply(dead ? 'refuse' : planned(call), incoming, body, call, reply);
    })().catch(() => reply.destroy());
  });

  async function apply(
    fault: Fault | undefined,
    incoming: IncomingMessage,
    body: Buffer,
    call: ProxiedCall,
    reply: ServerResponse,
  ): Promise<void> {
    const began = era;
    if (fault === 'kill' || fault === 'kill-before') dead = true;
    switch (fault) {
      case 'refuse':
      case 'kill-before':
        reply.destroy();
        return;
      case 'hang':
        hanging.add(reply);
        return;
      case 'error-before':
        return refuse(reply, 500, `${VERSION}InternalServerError`);
      case 'throttle':
        return refuse(reply, 400, `${VERSION}ProvisionedThroughputExceededException`);
      case 'invalid':
        return refuse(reply, 400, 'com.amazon.coral.validate#ValidationException');
      case 'conflict':
        return refuseAsConflict(call, reply);
      default: {
        const answer = await forward(incoming, body);
        if (fault === 'error-after') return refuse(reply, 500, `${VERSION}InternalServerError`);
        // A process that died meanwhile hears no answer.
        const deaf = dead && began === era;
        if (fault === 'drop' || fault === 'kill' || deaf) {
          reply.destroy();
          return;
        }
        reply.writeHead(answer.status, answer.headers);
        if (fault === 'cut') {
          reply.write(answer.body.subarray(0, Math.floor(answer.body.length / 2)));
          setImmediate(() => reply.destroy());
        } else reply.end(answer.body);
      }
    }
  }

  function forward(incoming: IncomingMessage, body: Buffer) {
    return new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>((resolve, reject) => {
      const { 'content-type': type = '', 'x-amz-target': action = '', authorization = '' } = incoming.headers;
      const headers = {
        'content-type': type,
        'x-amz-target': action,
        authorization,
        'x-amz-date': incoming.headers['x-amz-date'] ?? '',
        'content-length': body.length,
      };
      const outgoing = httpRequest(target, { method: 'POST', agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const kept = Object.entries(response.headers).filter(([name]) => /^(content-type|x-amz)/.test(name));
          resolve({
            status: response.statusCode ?? 500,
            headers: {
              ...(Object.fromEntries(kept) as Record<string, string>),
              'content-length': String(bytes.length),
            },
            body: bytes,
          });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1_000 }, resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get calls() {
      return calls;
    },
    plan(plan = () => undefined) {
      for (const reply of hanging) reply.destroy();
      hanging.clear();
      era += 1;
      calls = [];
      planned = plan;
      dead = false;
    },
    killed: () => dead,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refuse(reply: ServerResponse, status: number, type: string, more: object = {}): void {
  const body = JSON.stringify({ __type: type, message: 'a planted fault', ...more });
  reply.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
}

/** As DynamoDB tells that another transaction has one of the rows. */
function refuseAsConflict({ action, body }: ProxiedCall, reply: ServerResponse): void {
  if (action !== 'TransactWriteItems') {
    refuse(reply, 400, `${VERSION}TransactionConflictException`);
    return;
  }
  const { TransactItems } = JSON.parse(body) as { TransactItems: unknown[] };
  const CancellationReasons = TransactItems.map((_item, at) =>
    at === 0 ? { Code: 'TransactionConflict', Message: 'a planted fault' } : { Code: 'None' },
  );
  refuse(reply, 400, `${VERSION}TransactionCanceledException`, { CancellationReasons });
}
