import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { type HttpRequest, HttpResponse } from '@smithy/core/protocols';

/** Milliseconds. */
export interface Timeouts {
  /** Until a new connection is made, its TLS included. */
  readonly connectionTimeout: number;
  /** Until the reply begins, and then between two parts of it. */
  readonly requestTimeout: number;
}

const SOCKETS = { keepAlive: true, maxSockets: 100 } as const;

/** As the SDK's own handler names these: each is a transient error, which the SDK tries again. */
const LOST = new Set<unknown>(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

const timeoutError = (message: string) =>
  Object.assign(new Error(message), { name: 'TimeoutError', code: 'ETIMEDOUT' });

/** Of connections that are opened ahead; one that fails holds up none of the steps. */
interface Opening {
  /** The server's address is known. */
  readonly found: Promise<unknown>;
  /** TCP is connected; TLS comes next. */
  readonly connected: Promise<unknown>;
}

/** Gives requests the connections that were opened ahead of them. */
class EarlyAgent extends TlsAgent {
  readonly #unused = new Set<{ readonly host: string; readonly port: number; readonly socket: Socket }>();

  /** @param unusedMs until it is closed if no request takes it */
  open(host: string, port: number, unusedMs: number): Opening {
    const servername = isIP(host) ? '' : host;
    const socket = super.createConnection({ ...this.options, host, port, servername }) as Socket;
    // A request will meet it too.
    socket.on('error', () => {});
    const one = { host, port, socket };
    this.#unused.add(one);
    setTimeout(() => this.#unused.delete(one) && socket.destroy(), unusedMs).unref();
    const first = (...events: string[]) =>
      Promise.race(events.map((event) => new Promise((resolve) => socket.once(event, resolve))));
    return { found: first('lookup', 'connect', 'close'), connected: first('connect', 'close') };
  }

  override createConnection(...args: Parameters<TlsAgent['createConnection']>) {
    const [{ host, port }] = args;
    for (const one of this.#unused)
      if (one.host === host && one.port === port) {
        this.#unused.delete(one);
        if (!one.socket.destroyed) return one.socket;
      }
    return super.createConnection(...args);
  }
}

type Handler = Extract<DynamoDBClientConfig['requestHandler'], { handle: unknown }>;

export type EarlyHandler = Handler & {
  /** Opens connections that requests take later, over TLS only. */
  open(url: URL, count: number): Opening;
};

/**
 * Sends the SDK's requests over `node:http` and `node:https`, in place of the SDK's handler: head and body in one write, one timer, the
 * reply read whole. Time-outs, aborts and lost connections are the errors that the SDK's handler throws.
 */
export function createHttpHandler({ connectionTimeout, requestTimeout }: Timeouts): EarlyHandler {
  const agents = { 'http:': new PlainAgent(SOCKETS), 'https:': new EarlyAgent(SOCKETS) };

  function handle(
    { protocol, hostname, port, path, method, headers, body }: HttpRequest,
    options: { abortSignal?: unknown } = {},
  ): Promise<{ response: HttpResponse }> {
    const abortSignal = options.abortSignal as AbortSignal | undefined;
    return new Promise((resolve, reject) => {
      const isPlain = protocol === 'http:';
      // Node resolves an IPv6 address without its brackets only.
      const host = hostname.replace(/^\[|\]$/g, '');
      const target = { method, path, host, port, headers, agent: agents[isPlain ? 'http:' : 'https:'] };
      if (abortSignal?.aborted) return reject(abortError(abortSignal));
      const sent = (isPlain ? plainRequest : tlsRequest)(target as object);
      let connecting: NodeJS.Timeout | undefined;
      const waiting = setTimeout(
        () => sent.destroy(timeoutError(`no reply within ${requestTimeout} ms`)),
        requestTimeout,
      );
      const onAbort = () => sent.destroy(abortError(abortSignal as AbortSignal));
      const end = () => {
        clearTimeout(waiting);
        clearTimeout(connecting);
        abortSignal?.removeEventListener('abort', onAbort);
      };
      const fail = (error: Error & { code?: string }) => {
        end();
        reject(LOST.has(error.code) ? Object.assign(error, { name: 'TimeoutError' }) : error);
      };
      abortSignal?.addEventListener('abort', onAbort);
      sent.on('error', fail);
      sent.on('socket', (socket) => {
        if (!socket.connecting) return;
        const late = timeoutError(`no connection within ${connectionTimeout} ms`);
        connecting = setTimeout(() => sent.destroy(late), connectionTimeout);
        socket.once(isPlain ? 'connect' : 'secureConnect', () => clearTimeout(connecting));
      });
      sent.on('response', (reply: IncomingMessage) => {
        const parts: Buffer[] = [];
        reply.on('data', (part: Buffer) => {
          waiting.refresh();
          parts.push(part);
        });
        reply.on('error', fail);
        reply.on('end', () => {
          end();
          const { statusCode = -1, statusMessage: reason = '' } = reply;
          const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts);
          const response = { statusCode, reason, headers: reply.headers as Record<string, string>, body: whole };
          resolve({ response: new HttpResponse(response) });
        });
      });
      // A text goes out with the head, in one write.
      sent.end(body);
    });
  }

  return {
    open({ protocol, hostname, port }, count) {
      const all = Array.from({ length: protocol === 'https:' ? count : 0 }, () =>
        agents['https:'].open(hostname, Number(port || 443), connectionTimeout),
      );
      return {
        found: Promise.all(all.map(({ found }) => found)),
        connected: Promise.all(all.map(({ connected }) => connected)),
      };
    },
    handle,
    destroy() {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
    metadata: { handlerProtocol: 'http/1.1' },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  };
}

const abortError = ({ reason }: AbortSignal) =>
  Object.assign(new Error('Request aborted', { cause: reason }), { name: 'AbortError' });
