import { expect } from 'vitest';
import { type Answer, data, refused } from '../answers.ts';
import { type ApiClient, type CallOptions, RUM } from '../api-client.ts';
import { Skipped } from '../environment.ts';
import { type Requirements, todo } from '../requirement.ts';
import { browseFleet } from './operations/browse-fleet.ts';
import { mergeAlerts } from './operations/merge-alerts.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const PER_SECOND = 2;
const PER_MINUTE = 30;
/** Maximum tries of a check whose answers must come within one second, or one minute, of the clock. */
const MAX_SECOND_TRIES = 5;
const MAX_MINUTE_TRIES = 3;
const MAX_BURST = 400;

/** Waits until the clock's next second or minute has begun, and a little longer, since the service's clock may be behind. */
const untilNext = ({ environment }: ApiClient, windowMs: number) =>
  environment.wait(windowMs - (Date.now() % windowMs) + 20);
const windowOf = (windowMs: number) => Math.floor(Date.now() / windowMs);

const browseOnce = (api: ApiClient, options: CallOptions = {}) => api.fleet({ limit: 1 }, { retried: [], ...options });

const browseAtOnce = (api: ApiClient, calls: number, options?: CallOptions) =>
  Promise.all(Array.from({ length: calls }, () => browseOnce(api, options)));

/** Whether the answer shows if the service counted the call: a 503 does not. */
const isCountKnown = ({ status }: Answer) => status !== 503;

/** Six calls that were all made within one second of the clock. */
async function sixWithinOneSecond(api: ApiClient): Promise<Answer[]> {
  for (let tries = 1; tries <= MAX_SECOND_TRIES; tries += 1) {
    await untilNext(api, SECOND_MS);
    const second = windowOf(SECOND_MS);
    const answers = await browseAtOnce(api, 6);
    if (windowOf(SECOND_MS) === second && answers.every(isCountKnown)) return answers;
  }
  throw new Skipped('the service is too slow to answer six calls within a second of the clock');
}

/**
 * Makes as many calls as a minute of the clock allows, and one more, which must be refused.
 * @returns false if the minute ended too early, or it is unknown whether each call was counted
 */
async function usesUpMinute(api: ApiClient): Promise<boolean> {
  await untilNext(api, MINUTE_MS);
  const minute = windowOf(MINUTE_MS);
  let passed = 0;
  while (passed < PER_MINUTE) {
    const answer = await browseOnce(api);
    if (!isCountKnown(answer) || windowOf(MINUTE_MS) !== minute) return false;
    if (answer.status === 200) passed += 1;
    else {
      refused(answer, 'RequestTooFrequently');
      // Only the second's quota is used up, not yet the minute's.
      expect(answer.headers.get('retry-after'), `Retry-After when ${passed} calls passed`).toBe('1');
    }
    if (answer.status !== 200 || answer.headers.get('x-ratelimit-remaining') === '0') await untilNext(api, SECOND_MS);
  }
  await untilNext(api, SECOND_MS);
  const oneMore = await browseOnce(api);
  if (!isCountKnown(oneMore) || windowOf(MINUTE_MS) !== minute) return false;
  refused(oneMore, 'RequestTooFrequently');
  const secondsLeft = (MINUTE_MS - (Date.now() % MINUTE_MS)) / SECOND_MS;
  expect(Math.abs(Number(oneMore.headers.get('retry-after')) - secondsLeft), 'Retry-After off by').toBeLessThan(2);
  return true;
}

export const limits = {
  'Fleet browse: 2 requests a second, per account; more are 429 RequestTooFrequently': {
    async usesUpRateLimit(api) {
      api.need('dataSet');
      await untilNext(api, MINUTE_MS);
      const refusals = (await sixWithinOneSecond(api)).filter(({ status }) => status !== 200);
      for (const answer of refusals) refused(answer, 'RequestTooFrequently');
      expect(6 - refusals.length, 'calls of six that passed').toBe(PER_SECOND);
    },
  },
  'Fleet browse: 30 requests a minute, per account; more are 429 RequestTooFrequently': {
    async usesUpRateLimit(api) {
      api.need('dataSet');
      for (let tries = 1; !(await usesUpMinute(api)); tries += 1)
        if (tries === MAX_MINUTE_TRIES)
          throw new Skipped(`the service is too slow to answer ${PER_MINUTE} calls in a minute`);
    },
  },
  'Fleet browse: a used-up limit of one account does not affect another': async (api) => {
    const { appKey } = api.need('furtherAccounts').recordAccount;
    const statuses = (await browseAtOnce(api, 4, { as: appKey })).map(({ status }) => status);
    expect(statuses, 'statuses of four calls at once').toContain(429);
    data(await api.fleet({ limit: 1 }));
  },
  'Fleet browse limit: default 50': browseFleet['limit: 50 when it is left out'],
  'Fleet browse limit: 1 to 100': browseFleet['limit: integer from 1 to 100'],
  'Fleet browse scan_limit: default 1000': browseFleet['scan_limit: 1000 when it is left out'],
  'Fleet browse scan_limit: from limit to 2000': browseFleet['scan_limit: integer from limit to 2000'],
  'Fleet browse statuses: at most 20': browseFleet['statuses: the seven values and no other, at most 20'],
  'Fleet browse agent_versions: at most 20': browseFleet['agent_versions: array of strings, at most 20'],
  'Fleet browse edge_clusters: at most 20': browseFleet['edge_clusters: array of strings, at most 20'],
  'Fleet browse capture_modes: at most 3': browseFleet['capture_modes: ebpf, polling, unknown and no other, at most 3'],
  'Merge alert_ids: at least 1': mergeAlerts['alert_ids: required array of at least one ObjectID'],
  'Merge comment: at most 1024 characters': mergeAlerts['comment: optional, at most 1024 characters'],
  'Merge title: at most 512 characters': mergeAlerts['title: optional, at most 512 characters'],
  'There is a limit per account on the other operations: 429 RequestTooFrequently': {
    async usesUpRateLimit(api) {
      api.need('dataSet');
      const calls = Array.from({ length: MAX_BURST }, () => api.call(RUM, {}, { retried: [] }));
      const refusals = (await Promise.all(calls)).filter(({ status }) => status === 429);
      if (refusals.length === 0)
        throw new Skipped(`${MAX_BURST} concurrent calls passed: API Gateway’s throttle is best effort`);
      for (const answer of refusals) refused(answer, 'RequestTooFrequently');
    },
  },
  'Limits of the whole API and of an integration': todo('the contract leaves it open'),
  'Rates of the other operations, and the largest body': todo('the contract leaves it open'),
} satisfies Requirements;
