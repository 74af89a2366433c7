/** Sends calls to handlers over HTTP, through the local gateway that the stack's template describes. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { inject } from 'vitest';
import { type Deployment, readDeployment } from '../../packages/local/deployment.ts';
import { createGateway } from '../../packages/local/gateway.ts';
import { listen } from './listen.ts';

type Invoke = (event: APIGatewayProxyEvent) => Promise<unknown>;

/** The functions of a deployment, by the names that the template has for them. */
export type Functions = Readonly<Record<string, Invoke>>;

/** The header that names the functions that a request is for; it is removed before a handler gets the event. */
const FUNCTIONS = 'x-test-functions';
const registered = new Map<string, Functions>();
let requests = 0;

const agent = new Agent({ keepAlive: true });
let startedPort: Promise<number> | undefined;

/** Starts a gateway without throttles, which runs as long as the tests' process. @returns its port */
async function startGateway(): Promise<number> {
  const throttled = readDeployment(inject('template'), 'unused');
  const deployment: Deployment = {
    ...throttled,
    accountPlan: { ...throttled.accountPlan, throttles: {} },
    otherPlans: throttled.otherPlans.map((plan) => ({ ...plan, throttles: {} })),
  };
  function invoke(name: string, event: unknown) {
    const { headers, multiValueHeaders, ...rest } = event as APIGatewayProxyEvent;
    const { [FUNCTIONS]: id = '', ...others } = headers;
    const { [FUNCTIONS]: _id, ...otherValues } = multiValueHeaders;
    const target = registered.get(id)?.[name];
    if (!target) throw new Error(`the test has no function ${name}`);
    return target({ ...rest, headers: others, multiValueHeaders: otherValues });
  }
  const server = createGateway({ deployment, invoke });
  // Otherwise an idle connection might be closed just as a request is sent on it.
  server.keepAliveTimeout = 0;
  return listen(server.unref());
}

function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, index) => rawHeaders.slice(2 * index, 2 * index + 2));
  const ofTransport = new Set(['date', 'connection', 'keep-alive', 'content-length']);
  return Object.fromEntries(pairs.filter(([name = '']) => !ofTransport.has(name.toLowerCase())));
}

/** Sends an event's request to the gateway, which routes it to one of these functions. */
export async function throughGateway(functions: Functions, event: APIGatewayProxyEvent) {
  startedPort ??= startGateway();
  const port = await startedPort;
  requests += 1;
  const id = String(requests);
  registered.set(id, functions);
  const query = new URLSearchParams(
    Object.entries(event.multiValueQueryStringParameters ?? {}).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  );
  const repeated = Object.fromEntries(
    Object.entries(event.multiValueHeaders ?? {}).filter(([, values = []]) => values.length > 1),
  );
  const body = event.body === null ? undefined : Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8');
  const answered = new Promise<{ statusCode: number; headers: Record<string, string>; body: string }>(
    (resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port,
          agent,
          method: event.httpMethod,
          path: query.size > 0 ? `${event.path}?${query}` : event.path,
          headers: { ...event.headers, ...repeated, [FUNCTIONS]: id },
        },
        async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          resolve({
            statusCode: response.statusCode ?? 0,
            headers: headersOf(response),
            body: Buffer.concat(chunks).toString(),
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    },
  );
  return answered.finally(() => registered.delete(id));
}
