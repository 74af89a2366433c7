/** Scenarios of the exact rate limit. */

import { parseKey } from '../../../lib/dynamodb/keys.ts';
import type { RateWindow } from '../../../lib/http/operations.ts';
import { createRateLimiter, type RateLimiter } from '../../../lib/http/rate-limit.ts';
import { TIME_LIMITS } from '../../../lib/shared/time-limits.ts';
import { type Environment, START_MS } from './environment.ts';
import type { Scenario } from './explore.ts';
import {
  ACCOUNT,
  type Apply,
  accountLine,
  actor,
  inTurn,
  type Judgement,
  type ModelledActor,
  rowsAfter,
  scenarioOf,
} from './scenario.ts';
import type { FinishedRun } from './state.ts';

/** The limits for one second, and for two. */
const [INNER, OUTER]: [RateWindow, RateWindow] = [
  { name: 'second', limit: 1, seconds: 1 },
  { name: 'two seconds', limit: 2, seconds: 2 },
];
const OPERATION = { name: 'limited', rateWindows: [INNER, OUTER] as const };

/** Number of counted calls by the window's name. */
type State = Readonly<Record<string, number>>;

const limiterAt = (second: number, { deps }: Environment) =>
  createRateLimiter(OPERATION, { ...deps, now: () => START_MS + second * 1_000 });

async function answerOf(limiter: RateLimiter): Promise<string> {
  const { refusedBy } = await limiter.take(ACCOUNT, AbortSignal.timeout(TIME_LIMITS.callMs));
  return refusedBy ? 'refused' : 'passed';
}

/** What a call in this second does in the model. */
const counted =
  (second: number): Apply<State> =>
  (counts) => {
    const [inner, outer] = [`second ${second}`, `two from ${second - (second % 2)}`];
    const [ofInner, ofOuter] = [(counts[inner] ?? 0) + 1, (counts[outer] ?? 0) + 1];
    if (ofInner > INNER.limit || ofOuter > OUTER.limit) return { state: counts, answer: 'refused' };
    return { state: { ...counts, [inner]: ofInner, [outer]: ofOuter }, answer: 'passed' };
  };

/** A call of a cold function in this second of the clock. */
const caller = (name: string, second: number) =>
  actor<State>(name, (environment) => answerOf(limiterAt(second, environment)), counted(second));

/** A warm function that is called twice in this second of the clock. At the later call it may know that the window is full. */
const warm = (name: string, second: number): ModelledActor<State> => {
  const calls = [`${name}1`, `${name}2`];
  return {
    name,
    async script(environment) {
      const limiter = limiterAt(second, environment);
      for (const call of calls) await environment.invoke(call, () => answerOf(limiter)).catch(() => undefined);
    },
    operations: Object.fromEntries(calls.map((call) => [call, counted(second)])),
  };
};

/** The counts in the table. */
function countsOf({ items }: FinishedRun): State {
  const counts: Record<string, number> = {};
  const firstWindow = START_MS / 1_000 / OUTER.seconds;
  for (const item of items) {
    const { kind, parts = [] } = parseKey(item as never) ?? {};
    if (kind !== 'rateCount') continue;
    const from = (Number(parts[1]) - firstWindow) * OUTER.seconds;
    counts[`two from ${from}`] = Number(item.total);
    for (const index of [0, 1])
      if (item[`w${index}`] !== undefined) counts[`second ${from + index}`] = Number(item[`w${index}`]);
  }
  return counts;
}

const judgement: Judgement<State> = {
  initial: {},
  answerOf: ({ answer, error }) => String(error ?? answer),
  stateOf: countsOf,
  survivesLostReply: () => true,
  // A function that knows that the window is full no longer asks the table.
  check({ invocations }) {
    const [earlier, later] = ['B1', 'B2'].map((name) => invocations.find((invocation) => invocation.name === name));
    return earlier?.answer === 'refused' && later && later.calls > 0
      ? ['after a refusal a call in the same window went to the table']
      : [];
  },
};

const scenario = (name: string, ...actors: ModelledActor<State>[]): Scenario =>
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
