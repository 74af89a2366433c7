/** An execution environment: imports a bundle, then answers calls; tells the wall-clock time of each in milliseconds. */
const { STEP_MS = '0', AHEAD_MS = '0', BUNDLE = '' } = process.env;

// Operations with an exact limit are called faster than it allows: each call comes so much later by the clock.
const clock = Date.now;
let aheadMs = Number(AHEAD_MS);
Date.now = () => clock() + aheadMs;
process.stdout.write = () => true; // log lines and metrics are made, and not read

const began = performance.now();
const { handler } = await import(BUNDLE);
process.send?.({ tookMs: performance.now() - began });
process.on('disconnect', () => process.exit());
process.on('message', async (event: unknown) => {
  aheadMs += Number(STEP_MS);
  const start = performance.now();
  const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 29_000 };
  const answer = await handler(event, context).catch((error: Error) => ({ statusCode: error.message }));
  process.send?.({ tookMs: performance.now() - start, status: answer.statusCode ?? 200 });
});

export {};
