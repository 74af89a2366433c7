/** The local gateway in front of functions that only record their events. */
import { connect } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Deployment, readDeployment } from '../../packages/local/deployment.ts';
import { createGateway } from '../../packages/local/gateway.ts';
import { type Resource, resourcesOf } from '../../packages/local/template.ts';
import { listen } from '../support/listen.ts';
import { deployed } from './stack.ts';

const template = deployed();
export const deployment = readDeployment(template, 'a-table');

/** The deployment of a copy of the template in which the properties of all resources of a type are changed. */
export const edited = (type: string, edit: (properties: Resource['Properties']) => void): Deployment => {
  const copy = structuredClone(template);
  for (const { Properties } of Object.values(resourcesOf(copy, `AWS::${type}`))) edit(Properties);
  return readDeployment(copy, 'a-table');
};

export const OK = { statusCode: 200, headers: {}, body: '{"request_id":"r","data":null}' };

/** An authorizer's answer: it allows a call, which is throttled by this gateway key. */
export const allow = (usageIdentifierKey: string) => ({
  principalId: '1',
  policyDocument: { Version: '2012-10-17', Statement: [{ Action: 'a', Effect: 'Allow', Resource: '*' }] },
  usageIdentifierKey,
});

/** The error code of an envelope. */
export const codeIn = (text: string): string | undefined => JSON.parse(text).error?.code;

/**
 * Starts a gateway, which runs as long as the tests' process.
 * @param options `authorize` answers for the authorizer, `answer` for every other function
 */
export async function startGateway(
  started: Deployment = deployment,
  {
    authorize = () => allow('local-account-1'),
    answer = async () => OK,
  }: { authorize?: () => unknown; answer?: () => Promise<unknown> } = {},
) {
  /** Names of the functions that were called, and the events of all but the authorizer. */
  const called: string[] = [];
  const events: APIGatewayProxyEvent[] = [];
  async function invoke(name: string, event: unknown) {
    called.push(name);
    if (name === 'usage-key-authorizer') return authorize();
    events.push(event as APIGatewayProxyEvent);
    return answer();
  }
  const port = await listen(createGateway({ deployment: started, invoke }).unref());

  return {
    called,
    async post(path: string, init: RequestInit = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', ...init });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    /**
     * Sends a request as it stands, on a connection of its own.
     * @returns the answer, the name of the function that was called last for it, and the last event
     */
    async sendRaw(head: string, body: string | Buffer = '', { host = 'Host: x\r\n' }: { host?: string } = {}) {
      const before = called.length;
      const socket = connect(port, '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('error', () => {}); // the answer is what was received before the error
      socket.write(`${head}\r\n${host}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`);
      socket.write(body);
      for await (const chunk of socket) chunks.push(chunk as Buffer);
      const answer = Buffer.concat(chunks);
      const headEnd = answer.indexOf('\r\n\r\n');
      const [statusLine = '', ...lines] = answer.subarray(0, headEnd).toString().split('\r\n');
      const content = answer.subarray(headEnd + 4);
      return {
        status: Number(statusLine.split(' ')[1]),
        headers: new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string])),
        body: content,
        text: content.toString(),
        name: called.slice(before).at(-1),
        event: events.at(-1),
      };
    },
  };
}
