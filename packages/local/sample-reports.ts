import { SAMPLE_INTERVAL_MS, sampleReports } from '../../infra/generate/sample.ts';

const EVERY_MS = 1_000;
const SLOTS = SAMPLE_INTERVAL_MS / EVERY_MS;

/** Sends the reports of the sample's hosts: each second a message with those that are due. @returns stops it */
export function startSampleReports(send: (body: string) => void): () => Promise<void> {
  let sent = 0;
  const timer = setInterval(() => {
    const lines = sampleReports(sent % SLOTS, SLOTS, Math.floor(sent / SLOTS), Date.now());
    sent += 1;
    if (lines.length > 0) send(lines.join('\n'));
  }, EVERY_MS);
  return async () => clearInterval(timer);
}
