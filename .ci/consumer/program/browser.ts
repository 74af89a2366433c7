/** What a page does with the client: each operation once, and a refused key. It runs as a bundle in a browser. */
import { createClient, UnauthorizedError } from 'incident-monitoring-rum-client';

export async function callAll(url: string, appKey: string, alert: string, incident: string): Promise<string[]> {
  const client = createClient({ url, appKey });
  const done: string[] = [];
  let stale = 0;
  for await (const host of client.hosts({ statuses: ['stale'] })) stale += host.servicemap.status === 'stale' ? 1 : 0;
  if (stale > 0) done.push('hosts');
  if ((await client.getRumResource()).product === 'rum') done.push('resource');
  await client.deleteWorkItem({ work_item_id: 'wi-1001', version: 1 });
  done.push('deleted');
  await client.mergeAlerts({ alert_ids: [alert], incident_id: incident });
  done.push('merged');
  const refusal = await createClient({ url, appKey: 'wrong' })
    .getRumResource()
    .catch((error: unknown) => error);
  if (refusal instanceof UnauthorizedError) done.push('refused');
  return done;
}
