/** The exact limit: whether it is exact, and what it costs. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { browseFleet } from '../../../lib/http/operations.ts';
import { createRateLimiter } from '../../../lib/http/rate-limit.ts';
import { limiterTrials } from '../../../test/support/limiter-trials.ts';
import { startBenchService } from '../bench-service.ts';
import { cpuClock, takeTurns } from '../compare.ts';
import type { NewFigure } from '../report.ts';

const TRIALS = 200;
const SHARE_LOST = 0.08;

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const service = await startBenchService([]);
  try {
    const trials = await limiterTrials(service.connect, TRIALS, SHARE_LOST);
    const exact = trials.filter(({ allowed, passed, counted }) => passed === allowed && counted === allowed);
    const name = '200 trials of 300 callers, 8 % of replies lost: exact';
    add({ name, value: exact.length, unit: 'trials', target: { least: TRIALS } });

    const { table, deps } = service;
    const limiter = createRateLimiter(browseFleet, deps);
    const { ours, bare } = await takeTurns(
      {
        ours: () => {
          service.stepClock(3_000);
          return limiter.take(1);
        },
        bare: () =>
          table.client.send(
            new UpdateCommand({
              TableName: table.name,
              Key: keys.rateCount(2, 'bare', 1),
              UpdateExpression: 'ADD #total :one',
              ExpressionAttributeNames: { '#total': 'total' },
              ExpressionAttributeValues: { ':one': 1 },
            }),
          ),
      },
      { rounds: 20, calls: 20 },
    );
    const baseline = { name: 'an unconditional count', value: bare.p50 };
    add({ name: 'a call that passes', value: ours.p50, unit: 'ms', baseline });

    for (let call = 0; call < 3; call += 1) await limiter.take(3);
    const { refused } = await takeTurns(
      {
        refused: async () => {
          for (let call = 0; call < 1_000; call += 1) await limiter.take(3);
        },
      },
      { rounds: 20, calls: 5, clock: cpuClock },
    );
    add({ name: 'a further refusal in a window, CPU', value: refused.p50, unit: 'us' });
  } finally {
    await service.stop();
  }
}
