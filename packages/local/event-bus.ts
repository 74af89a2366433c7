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
  Time: number;
}

/** An event as EventBridge passes it to a rule's target, as a line of JSON. The detail is copied as text: parsing would round its integers. */
function lineOf(id: string, { Source: source, DetailType, Detail, Time }: Entry): string {
  const time = new Date(Time * 1000).toISOString();
  const origin = { source, account: '000000000000', time, region: 'local', resources: [] };
  const event = JSON.stringify({ version: '0', id, 'detail-type': DetailType, ...origin });
  return `${event.slice(0, -1)},"detail":${Detail}}\n`;
}

/** Answers `PutEvents`. @param file each event is appended to it; absent: events are dropped */
export async function startEventBus(file?: string) {
  const server = createServer(async (request, response) => {
    try {
      const entries = ((await json(request)) as { Entries: Entry[] }).Entries.map((entry) => {
        const id = randomUUID();
        return { id, line: lineOf(id, entry) };
      });
      if (file !== undefined) await appendFile(file, entries.map(({ line }) => line).join(''));
      const Entries = entries.map(({ id }) => ({ EventId: id }));
      response
        .setHeader('Content-Type', 'application/x-amz-json-1.0')
        .end(JSON.stringify({ Entries, FailedEntryCount: 0 }));
    } catch {
      response.destroy(); // relay sends the events again
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
