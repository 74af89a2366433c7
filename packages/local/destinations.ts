/** The part of EventBridge that the function `relay` uses. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An event as EventBridge passes it to a rule's target. */
export interface BusEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  /** JSON text, since its integers may be beyond 2^53. */
  readonly detail: string;
}

/** @throws when the event was not accepted; it is then delivered again */
export type OnEvent = (event: BusEvent) => Promise<void>;

/** Appends events to a file, one line of JSON each, as EventBridge passes them to a rule's target. */
export const appendTo =
  (file: string): OnEvent =>
  // The detail is copied as text: parsing would round its large integers.
  ({ detail, ...event }) =>
    appendFile(file, `${JSON.stringify(event).slice(0, -1)},"detail":${detail}}\n`);

interface Put {
  Entries: { Source: string; DetailType: string; Detail: string; Time?: number }[];
}

const ACCOUNT = '000000000000';

export async function startDestinations(onEvent?: OnEvent) {
  async function put({ Source, DetailType, Detail, Time }: Put['Entries'][number]) {
    const id = randomUUID();
    const time = new Date(Time === undefined ? Date.now() : Time * 1000).toISOString();
    const place = { account: ACCOUNT, time, region: 'local', resources: [] };
    try {
      await onEvent?.({ version: '0', id, 'detail-type': DetailType, source: Source, ...place, detail: Detail });
      return { EventId: id };
    } catch (error) {
      return { ErrorCode: 'InternalFailure', ErrorMessage: (error as Error).message };
    }
  }

  async function answer(request: IncomingMessage): Promise<object | undefined> {
    const body = JSON.parse(await text(request));
    if (request.headers['x-amz-target'] !== 'AWSEvents.PutEvents') return undefined;
    const Entries: object[] = [];
    for (const entry of (body as Put).Entries) Entries.push(await put(entry));
    return { Entries, FailedEntryCount: Entries.filter((entry) => 'ErrorCode' in entry).length };
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (result) =>
        response
          .writeHead(result ? 200 : 400, { 'Content-Type': 'application/x-amz-json-1.0' })
          .end(JSON.stringify(result ?? { __type: 'UnknownOperationException' })),
      () => response.destroy(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
