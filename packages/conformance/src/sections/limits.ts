import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../answers.ts';
import type { Caller } from '../callers.ts';
import { data, equal, holds, refused } from '../expect.ts';
import { Skipped } from '../outcome.ts';
import { open, type Section, section, shown, shownAs, slow } from '../sentence.ts';
import { FLEET, RUM, type Trial } from '../trial.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const PER_SECOND = 2;
const PER_MINUTE = 30;

/** Waits until at least `leftMs` of a minute are left in which no other sentence made calls. */
async function unusedMinute(t: Trial, caller: Caller, leftMs: number): Promise<void> {
  const left = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (left < leftMs || caller === t.lab.main) await sleep(left + 20);
}

const browseOnce = (t: Trial, caller: Caller) => t.call(FLEET, { limit: 1 }, { as: caller, noRetry: true });

/** Several calls at once. */
const atOnce = (t: Trial, caller: Caller, calls: number) =>
  Promise.all(Array.from({ length: calls }, () => browseOnce(t, caller)));

/** Number of calls that passed; the others must be 429 with Retry-After. */
function passed(answers: readonly Answer[]): number {
  const refusals = answers.filter(({ status }) => status !== 200);
  for (const answer of refusals) refused(answer, 'RequestTooFrequently');
  return answers.length - refusals.length;
}

/** It is unknown whether a call answered with 503 was counted. */
const isAnswered = ({ status }: Answer) => status !== 503;

const MAX_TRIES = 5;
const MAX_MINUTES = 3;

const nextSecond = () => sleep(SECOND_MS - (Date.now() % SECOND_MS) + 20);

/** Several calls that were all made within one second of the clock. */
async function withinOneSecond(t: Trial, caller: Caller, calls: number): Promise<Answer[]> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    await nextSecond();
    const second = Math.floor(Date.now() / SECOND_MS);
    const answers = await atOnce(t, caller, calls);
    if (Math.floor(Date.now() / SECOND_MS) === second && answers.every(isAnswered)) return answers;
  }
  throw new Skipped('the service is too slow to answer six calls within a second of the clock');
}

/**
 * As many calls as a minute of the clock allows, and one more.
 * @returns false if it is unknown whether each was counted
 */
async function exhaustMinute(t: Trial, caller: Caller): Promise<boolean> {
  await unusedMinute(t, caller, (PER_MINUTE / PER_SECOND + 3) * SECOND_MS);
  const ends = (Math.floor(Date.now() / MINUTE_MS) + 1) * MINUTE_MS;
  for (let count = 0; count < PER_MINUTE; ) {
    if (Date.now() >= ends) return false;
    const answer = await browseOnce(t, caller);
    if (!isAnswered(answer)) return false;
    if (passed([answer]) === 1) count += 1;
    else holds(answer.headers.get('retry-after') === '1', `${PER_MINUTE} calls to pass in a minute`, count);
    if (answer.status !== 200 || answer.headers.get('x-ratelimit-remaining') === '0') await nextSecond();
  }
  await nextSecond();
  const one = await browseOnce(t, caller);
  if (Date.now() >= ends || !isAnswered(one)) return false;
  refused(one, 'RequestTooFrequently');
  const [retryAfter, left] = [Number(one.headers.get('retry-after')), (ends - Date.now()) / SECOND_MS];
  holds(Math.abs(retryAfter - left) < 2, `Retry-After of about ${left.toFixed(0)} seconds`, retryAfter);
  return true;
}

const MAX_BURST = 400;

export const limitsOf = (fleet: Section, merge: Section) =>
  section('8', 'Limits', [
    slow('Fleet browse: 2 requests a second, per account; more are 429 RequestTooFrequently', async (t) => {
      const { second } = t.need('spare');
      await unusedMinute(t, second, MAX_TRIES * SECOND_MS);
      equal(passed(await withinOneSecond(t, second, 6)), PER_SECOND, 'calls of six that passed');
    }),
    slow('Fleet browse: 30 requests a minute, per account; more are 429 RequestTooFrequently', async (t) => {
      const { minute } = t.need('spare');
      for (let tries = 1; !(await exhaustMinute(t, minute)); tries += 1) {
        if (tries === MAX_MINUTES)
          throw new Skipped(`the service is too slow to answer ${PER_MINUTE} calls in a minute`);
        await sleep(MINUTE_MS - (Date.now() % MINUTE_MS) + 20);
      }
    }),
    shown('Fleet browse: what one account used up another still has', async (t) => {
      const { burst } = t.need('spare');
      if (burst === t.lab.main) throw new Skipped('needs a second account with the permission');
      holds(
        (await atOnce(t, burst, 4)).some(({ status }) => status === 429),
        'one of four calls at once to be refused',
      );
      data(await t.fleet({ limit: 1 }));
    }),
    shownAs('Fleet browse limit: default 50', fleet, 'limit: 50'),
    shownAs('Fleet browse limit: 1 to 100', fleet, 'limit: integer'),
    shownAs('Fleet browse scan_limit: default 1000', fleet, 'scan_limit: 1000'),
    shownAs('Fleet browse scan_limit: from limit to 2000', fleet, 'scan_limit: integer'),
    shownAs('Fleet browse statuses: at most 20', fleet, 'statuses: the seven'),
    shownAs('Fleet browse agent_versions: at most 20', fleet, 'agent_versions: array'),
    shownAs('Fleet browse edge_clusters: at most 20', fleet, 'edge_clusters: array'),
    shownAs('Fleet browse capture_modes: at most 3', fleet, 'capture_modes: ebpf'),
    shownAs('Merge alert_ids: at least 1', merge, 'alert_ids: required'),
    shownAs('Merge comment: at most 1024 characters', merge, 'comment: optional'),
    shownAs('Merge title: at most 512 characters', merge, 'title: optional'),
    slow('There is a limit per account on the other operations: 429 RequestTooFrequently', async (t) => {
      const { burst } = t.need('spare');
      const answers = await Promise.all(
        Array.from({ length: MAX_BURST }, () => t.call(RUM, {}, { as: burst, noRetry: true })),
      );
      const refusals = answers.filter(({ status }) => status === 429);
      if (refusals.length === 0)
        throw new Skipped(`${MAX_BURST} calls at once passed: API Gateway’s throttle is best effort`);
      for (const answer of refusals) refused(answer, 'RequestTooFrequently');
    }),
    open('Limits of the whole API and of an integration', 'the contract leaves it open'),
    open('Rates of the other operations, and the largest body', 'the contract leaves it open'),
  ]);
