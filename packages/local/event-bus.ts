/** The part of EventBridge that the function `relay` uses. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface Entry {
  Source: string;
  DetailType: string;
  Detail: string;
  /** Unix time in seconds. */
  Time?: number;
}

/** @param file each event is appended to it as a line of JSON, as EventBridge passes it to a rule's target; absent: events are dropped */
export async function startEventBus(file?: string) {
  async function put({ Source, DetailType, Detail, Time }: Entry) {
    const id = randomUUID();
    const time = new Date(Time === undefined ? Date.now() : Time * 1000).toISOString();
    const origin = { source: Source, account: '000000000000', time, region: 'local', resources: [] };
    const event = JSON.stringify({ version: '0', id, 'detail-type': DetailType, ...origin });
    try {
      // The detail is copied as text: parsing would round its large integers.
      if (file !== undefined) await appendFile(file, `${event.slice(0, -1)},"detail":${Detail}}\n`);
      return { EventId: id };
    } catch (error) {
      return { ErrorCode: 'InternalFailure', ErrorMessage: (error as Error).message }; // the relay sends it again
    }
  }

  const server = createServer(async (request, response) => {
    response.setHeader('Content-Type', 'application/x-amz-json-1.0');
    try {
      const body = (await json(request)) as { Entries: Entry[] };
      if (request.headers['x-amz-target'] !== 'AWSEvents.PutEvents')
        return void response.writeHead(400).end('{"__type":"UnknownOperationException"}');
      const Entries: object[] = [];
      for (const entry of body.Entries) Entries.push(await put(entry));
      const FailedEntryCount = Entries.filter((entry) => 'ErrorCode' in entry).length;
      response.end(JSON.stringify({ Entries, FailedEntryCount }));
    } catch {
      response.destroy();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
