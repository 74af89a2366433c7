/** What a strict caller in TypeScript writes. It is compiled, not run. */
import {
  ApiError,
  type Client,
  createClient,
  type FleetPage,
  ResourceNotFoundError,
} from 'incident-monitoring-rum-client';

const client: Client = createClient({ url: 'http://127.0.0.1:3000', appKey: 'k', onEvent: ({ type }) => type.length });

export async function summary(signal: AbortSignal): Promise<number> {
  const page: FleetPage = await client.browseFleet({ statuses: ['stale'] }, { signal });
  let nodes = page.coverage.states.stale + page.generated_at_ms;
  for await (const host of client.hosts()) nodes += host.servicemap.node_count;
  const { account_id, window_end_time } = await client.getRumResource();
  const account: number | bigint = account_id;
  await client.deleteWorkItem({ work_item_id: String(account), version: 1n });
  try {
    const { replayed }: { replayed: boolean } = await client.mergeAlerts({ alert_ids: ['a'], incident_id: 'b' });
    return replayed ? nodes : window_end_time;
  } catch (error) {
    if (error instanceof ResourceNotFoundError && error.code === 'ResourceNotFound') return error.retryAfter ?? 0;
    if (error instanceof ApiError) return error.origin.length;
    throw error;
  }
}

// @ts-expect-error a status that the service does not have
client.browseFleet({ statuses: ['paused'] });
