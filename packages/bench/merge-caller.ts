/** A process that sends merges to a service, and reports how they were answered. `merges.ts` starts it. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { createTimes } from './timings.ts';

export interface CallerOptions {
  url: string;
  appKey: string;
  /** Each merge goes into the next of these. */
  incidentIds: readonly string[];
  alertIds: readonly string[];
  /** How many of the alerts each merge has: the next ones. */
  size: number;
  seconds: number;
  /** Merges that begin each second; absent: each begins when the one before has been answered. */
  perSecond?: number;
}

export interface CallerReport {
  sent: number;
  /** Those that were not answered 200. */
  refused: number;
  /** Of each call, in milliseconds. */
  p99: number;
}

async function run(options: CallerOptions): Promise<CallerReport> {
  const { url, appKey, incidentIds, alertIds, size, seconds, perSecond } = options;
  const times = createTimes();
  let refused = 0;

  async function send(alert_ids: readonly string[], incident_id: string | undefined): Promise<Response> {
    const response = await fetch(`${url}${mergeAlerts.path}?app_key=${appKey}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ alert_ids, incident_id }),
    });
    await response.arrayBuffer();
    return response;
  }

  async function merge(index: number): Promise<void> {
    const first = (index * size) % alertIds.length;
    const targets = [alertIds.slice(first, first + size), incidentIds[index % incidentIds.length]] as const;
    for (;;) {
      const { status, headers } = await times.time(() => send(...targets));
      if (status !== 429) {
        if (status !== 200) refused += 1;
        return;
      }
      // The budget of merges is used up, which is not measured here.
      await sleep(1000 * Number(headers.get('Retry-After')));
    }
  }

  const merges: Promise<void>[] = [];
  const endsMs = performance.now() + seconds * 1000;
  for (let index = 0; performance.now() < endsMs; index += 1) {
    const merging = merge(index);
    merges.push(merging);
    await (perSecond === undefined ? merging : sleep(1000 / perSecond));
  }
  await Promise.all(merges);
  return { sent: merges.length, refused, p99: times.percentile(99) };
}

const [options] = (await once(process, 'message')) as [CallerOptions];
process.send?.(await run(options));
process.disconnect();
