/** Imports a bundle, then answers calls, and reports the CPU milliseconds of each, the largest memory so far in MB, and the answer. */
import { startTimer } from '../timings.ts';

const { STEP_MS = '0', AHEAD_MS = '0', BUNDLE = '' } = process.env;

// Calls come faster than an exact limit allows, so the clock is set forward for each.
const clock = Date.now;
let aheadMs = Number(AHEAD_MS);
Date.now = () => clock() + aheadMs;
process.stdout.write = () => true; // log lines and metrics are written, but not read

const elapsedInInit = startTimer();
const { handler } = await import(BUNDLE);
process.send?.(elapsedInInit());
process.on('disconnect', () => process.exit());
process.on('message', async (event: unknown) => {
  aheadMs += Number(STEP_MS);
  const elapsedInCall = startTimer();
  const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 29_000 };
  const answer = await handler(event, context).catch((error: Error) => ({ statusCode: error.message }));
  const took = elapsedInCall();
  const peakMb = process.resourceUsage().maxRSS / 1_024;
  process.send?.({ ...took, peakMb, status: answer.statusCode ?? 200, answer: answer.body });
});
