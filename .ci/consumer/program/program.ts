/** A caller in strict TypeScript. It is compiled with the types of Node and of a browser, and runs in a browser. */
import { ApiError, type Client, createClient, type FleetPage, UnauthorizedError } from 'incident-monitoring-rum-client';

/** Reads, writes, then makes a call with a wrong key. @returns what succeeded */
export async function callAll(url: string, appKey: string, alert: string, incident: string): Promise<string[]> {
  const client: Client = createClient({ url, appKey, onEvent: ({ type }) => type.length });
  const done: string[] = [];
  const page: FleetPage = await client.browseFleet({ statuses: ['stale'] }, { signal: AbortSignal.timeout(60_000) });
  let stale = 0;
  for await (const host of client.hosts({ statuses: ['stale'] })) stale += host.servicemap.status === 'stale' ? 1 : 0;
  if (stale > 0 && stale >= page.coverage.returned) done.push('hosts');
  const { account_id, product } = await client.getRumResource();
  const account: number | bigint = account_id;
  if (product === 'rum') done.push(`resource of ${account}`);
  await client.deleteWorkItem({ work_item_id: 'wi-1001', version: 1n });
  done.push('deleted');
  const { replayed }: { replayed: boolean } = await client.mergeAlerts({ alert_ids: [alert], incident_id: incident });
  if (!replayed) done.push('merged');
  try {
    await createClient({ url, appKey: 'wrong' }).getRumResource();
  } catch (error) {
    if (error instanceof UnauthorizedError && error.code === 'Unauthorized') done.push('refused');
    else if (error instanceof ApiError) done.push(`failed at ${error.origin}`);
  }
  return done;
}

/** Shows that the compiler finds a wrong status. It is never called. */
export const mistake = (client: Client): unknown =>
  // @ts-expect-error a status that the service does not have
  client.browseFleet({ statuses: ['paused'] });
