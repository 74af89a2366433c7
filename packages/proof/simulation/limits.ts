/** Scenarios of the exact rate limit. */

import { parseKey } from '../../../lib/dynamodb/keys.ts';
import type { RateWindow } from '../../../lib/http/operations.ts';
import { createRateLimiter, type RateLimiter } from '../../../lib/http/rate-limit.ts';
import { TIME_LIMITS } from '../../../lib/shared/time-limits.ts';
import type { Actor } from './behavior.ts';
import type { Scenario } from './explore.ts';
import type { Outcome } from './linearize.ts';
import { ACCOUNT, accountLine, inTurn, type Judgement, rowsAfter, scenarioOf } from './scenario.ts';
import { type Script, START_MS, type Surroundings } from './surroundings.ts';
import type { FinishedRun } from './transition-system.ts';
import { canonical } from './values.ts';

/** The limits for one second, and for two. */
const [INNER, OUTER]: [RateWindow, RateWindow] = [
  { name: 'second', limit: 1, seconds: 1 },
  { name: 'two seconds', limit: 2, seconds: 2 },
];
const LIMITED = { name: 'limited', rateWindows: [INNER, OUTER] as const };

/** Number of counted calls by the window's name. */
type State = Readonly<Record<string, number>>;

const windowsAt = (second: number) => ({ inner: `second ${second}`, outer: `two from ${second - (second % 2)}` });

const limiterAt = (second: number, { deps }: Surroundings) =>
  createRateLimiter(LIMITED, { ...deps, now: () => START_MS + second * 1_000 });

/** A call in some second of the clock, of a cold function or with the limiter of a warm one. */
const take =
  (name: string, second: number, warmLimiter?: RateLimiter): Script =>
  (at) =>
    at.call(`${name} in second ${second}`, async () => {
      const limiter = warmLimiter ?? limiterAt(second, at);
      const { refusedBy } = await limiter.take(ACCOUNT, AbortSignal.timeout(TIME_LIMITS.callMs));
      return refusedBy ? 'refused' : 'passed';
    });

const caller = (name: string, second: number): Actor => ({ name, script: take(name, second) });

/** Two calls of one warm function in the same second, the second of which may know that the window is full. */
const warm = (name: string, second: number): Actor => ({
  name,
  async script(at) {
    const limiter = limiterAt(second, at);
    for (const index of [1, 2]) await take(`${name}${index}`, second, limiter)(at).catch(() => undefined);
  },
});

function apply(counts: State, operation: string): Outcome<State>[] {
  const { inner, outer } = windowsAt(Number(operation.split(' ').at(-1)));
  const [ofInner, ofOuter] = [(counts[inner] ?? 0) + 1, (counts[outer] ?? 0) + 1];
  if (ofInner > INNER.limit || ofOuter > OUTER.limit) return [{ state: counts, answer: 'refused' }];
  return [{ state: { ...counts, [inner]: ofInner, [outer]: ofOuter }, answer: 'passed' }];
}

/** The counts in the table. */
function countsOf({ items }: FinishedRun): State {
  const counts: Record<string, number> = {};
  const first = START_MS / 1_000 / OUTER.seconds;
  for (const item of items) {
    const { kind, parts = [] } = parseKey(item as never) ?? {};
    if (kind !== 'rateCount') continue;
    const from = (Number(parts[1]) - first) * OUTER.seconds;
    counts[`two from ${from}`] = Number(item.total);
    for (const index of [0, 1])
      if (item[`w${index}`] !== undefined) counts[`second ${from + index}`] = Number(item[`w${index}`]);
  }
  return counts;
}

const judgement: Judgement<State> = {
  initial: {},
  apply,
  answerOf: ({ answer, error }) => String(error ?? answer),
  isFinal: (state, run) => canonical(state) === canonical(countsOf(run)),
  isSettled: () => true,
  // A function that knows that the window is full asks the table no more.
  check: ({ operations }) =>
    operations.some(
      ({ name, calls }) =>
        name.startsWith('B2') &&
        calls > 0 &&
        operations.some((one) => one.name.startsWith('B1') && one.answer === 'refused'),
    )
      ? ['after a refusal a call in the same window went to the table']
      : [],
  describe: (run) => canonical(countsOf(run)),
};

const scenario = (name: string, ...actors: Actor[]): Scenario =>
  scenarioOf(name, async () => [await rowsAfter([accountLine(ACCOUNT)])], actors, judgement, { cost: 1 });

export const LIMITS: readonly Scenario[] = [
  scenario("three calls across a second's end", caller('A', 0), caller('B', 0), caller('C', 1)),
  scenario("three calls across a window's end", caller('A', 1), caller('B', 1), caller('C', 2)),
  scenario('a handler that remembers a refusal', caller('A', 0), warm('B', 0), caller('C', 1)),
  scenario(
    "two calls, one after the other, across a window's end",
    inTurn('A', caller('A', 1), caller("A'", 2)),
    caller('B', 1),
    caller('C', 2),
  ),
];
