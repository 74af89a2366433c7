import { SAMPLE_INTERVAL_MS, sampleReports } from '../../infra/generate/sample.ts';

const MESSAGE_INTERVAL_MS = 1_000;
/** Messages in which every host that reports has one record. */
const SLOTS = SAMPLE_INTERVAL_MS / MESSAGE_INTERVAL_MS;

/** Sends the reports of the sample's hosts: each second a message with those that are due. @returns a function that stops it */
export function startSampleReports(send: (body: string) => void): () => Promise<void> {
  let sent = 0;
  const timer = setInterval(() => {
    const lines = sampleReports(sent % SLOTS, SLOTS, Math.floor(sent / SLOTS), Date.now());
    sent += 1;
    if (lines.length > 0) send(lines.join('\n'));
  }, MESSAGE_INTERVAL_MS);
  return async () => clearInterval(timer);
}
