/** Calls that are made while something is deployed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export const INCIDENTS = ['5b0c00000000000000000001', '5b0c00000000000000000002'] as const;
/** Few enough for a merge in one transaction. */
export const ALERTS = Array.from({ length: 90 }, (_, index) => index.toString(16).padStart(24, '5b0d'));

/** The incident of the merge with this number. They alternate, so that each merge moves the alerts. */
const incidentOf = (merge: number) => INCIDENTS[merge % 2 === 0 ? 0 : 1];

const PAUSE_MS = 600;
/** Fleet browse allows 30 calls a minute: this leaves some of them to the smoke test. */
const FLEET_PAUSE_MS = 3_000;
/**
 * Answers after which a call is repeated. The emulator is slow at times. When a function's code or configuration changes, it kills the
 * function's processes, and the calls that these are answering get 502; Lambda lets such calls finish.
 */
const RETRYABLE: readonly string[] = ['502', '503 ServiceUnavailable'];
const MAX_TRIES = 5;
const FLEET = '/monit/servicemap/fleet';

/** @returns `stop`, which ends the calls, and returns how often each answer such as `/alert/merge 200` came and which calls failed */
export function startCalls(url: string, appKey: string) {
  const run = randomUUID();
  const answers = new Map<string, number>();
  const failures: string[] = [];
  let stopped = false;
  let merges = 0;
  async function send(path: string, body: object, headers: Record<string, string>): Promise<string> {
    const request = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } };
    const response = await fetch(`${url}${path}?app_key=${appKey}`, { ...request, body: JSON.stringify(body) });
    const { error } = (await response.json()) as { error?: { code: string } };
    return error ? `${response.status} ${error.code}` : String(response.status);
  }
  /** Sends a call, and repeats it after a retryable answer. */
  async function call(path: string, body: object, headers: Record<string, string> = {}): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const answer = await send(path, body, headers).catch((error: Error) => error.message);
      answers.set(`${path} ${answer}`, (answers.get(`${path} ${answer}`) ?? 0) + 1);
      const done = answer === '200' || (path === FLEET && answer === '429 RequestTooFrequently');
      if (done) return;
      if (tries === MAX_TRIES || !RETRYABLE.includes(answer))
        return void failures.push(`${path} ${answer}, try ${tries}`);
      await sleep(1_000);
    }
  }
  async function repeat(pauseMs: number, action: () => Promise<void>) {
    while (!stopped) {
      await action();
      await sleep(pauseMs);
    }
  }
  const running = [
    repeat(FLEET_PAUSE_MS, () => call(FLEET, { limit: 5 })),
    repeat(PAUSE_MS, () => call('/rum/resource/info', { no_cache: true })),
    repeat(PAUSE_MS, () => {
      merges += 1;
      const merge = { alert_ids: ALERTS, incident_id: incidentOf(merges) };
      return call('/alert/merge', merge, { 'Idempotency-Key': `deployment ${run} ${merges}` });
    }),
  ];
  return {
    async stop() {
      // Time for one more call of each operation in its newly deployed version.
      await sleep(FLEET_PAUSE_MS + PAUSE_MS);
      stopped = true;
      await Promise.all(running);
      return { answers, failures, lastIncident: incidentOf(merges) };
    },
  };
}
