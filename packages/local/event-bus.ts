/** The part of EventBridge that the function `relay` uses. */
import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
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

/** @returns the response to a `PutEvents` */
async function putEvents(request: IncomingMessage, file: string | undefined): Promise<string> {
  const { Entries: entries } = (await json(request)) as { Entries: Entry[] };
  const events = entries.map((entry) => ({ entry, id: randomUUID() }));
  if (file !== undefined)
    await appendFile(file, events.map(({ entry, id }) => lineOf(id, entry)).join(''), { mode: 0o600 });
  return JSON.stringify({ Entries: events.map(({ id }) => ({ EventId: id })), FailedEntryCount: 0 });
}

/**
 * Answers a request if it publishes events.
 * @param file to which each event is appended; if undefined, events are dropped
 * @returns whether it was such a request
 */
export function answerEvents(request: IncomingMessage, response: ServerResponse, file: string | undefined): boolean {
  if (request.method !== 'POST' || request.headers['x-amz-target'] !== 'AWSEvents.PutEvents') return false;
  putEvents(request, file).then(
    (body) => response.setHeader('Content-Type', 'application/x-amz-json-1.0').end(body),
    () => response.destroy(), // relay sends the events again
  );
  return true;
}
