import { SAMPLE_INTERVAL_MS, sampleReports } from './sample.ts';

const MESSAGE_INTERVAL_MS = 1_000;
/** Number of messages in a round. In each round every host that reports sends one record. */
const MESSAGES_PER_ROUND = SAMPLE_INTERVAL_MS / MESSAGE_INTERVAL_MS;

/** Sends the reports of the sample's hosts: one message a second, with the reports that are due. @returns a function that stops it */
export function startSampleReports(send: (body: string) => void): () => Promise<void> {
  let sent = 0;
  const timer = setInterval(() => {
    const lines = sampleReports(
      sent % MESSAGES_PER_ROUND,
      MESSAGES_PER_ROUND,
      Math.floor(sent / MESSAGES_PER_ROUND),
      Date.now(),
    );
    sent += 1;
    if (lines.length > 0) send(lines.join('\n'));
  }, MESSAGE_INTERVAL_MS);
  return async () => clearInterval(timer);
}
