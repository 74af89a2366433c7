/** Scenarios of large merges beside others, and of what finishes them. */
import type { Scenario } from './explore.ts';
import { A, B, C, merge, ONE, oneByOne, sweep, THREE, TWO, undo, withRetry } from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';
import { mergeOfPreviousRelease } from './previous-release.ts';

const SMALL = { alerts: [A], into: TWO };
const LARGE = { alerts: [A, B], into: THREE };
/** An earlier merge, so that the account has a merge order. Its alerts are in the incident already. */
const BEFORE = { earlierMerges: [{ alerts: [A, B], into: ONE }] };
const TWO_ORIGINS = { alerts: [A, C], into: TWO };
/** One of two alerts is in the incident already; the other merge takes both. */
const STAYING = { alerts: [A, C], into: ONE };
const TAKING = { alerts: [A, C], into: THREE };
/** Not tried: a transaction that is read in part. The previous release does not notice it, and no later release can change that. */
const BESIDE = { ...BEFORE, without: 'shows a row late' } as const;
/** Each transaction moves one alert. */
const IN_PARTS = { transactionItems: 2 };

export const LARGE_MERGES: readonly Scenario[] = [
  // The clock of the second actor is ahead, so both orders are tried.
  mergeScenario('a large and a small merge of one alert', 4, [merge('large', LARGE), merge('small', SMALL)], BEFORE),
  mergeScenario('a small and a large merge of one alert', 4, [merge('small', SMALL), merge('large', LARGE)], BEFORE),
  mergeScenario(
    'a small and a large merge, retried with their keys',
    4,
    [withRetry('small', SMALL, { transactionItems: 4 }), withRetry('large', LARGE)],
    BEFORE,
  ),
  mergeScenario(
    'two large merges that share an alert',
    4,
    [merge('large 1', { alerts: [A, B], into: TWO }), merge('large 2', { alerts: [B, C], into: THREE })],
    BEFORE,
  ),
  mergeScenario(
    'two large merges of the same alerts, in parts',
    5,
    [merge('large 1', { alerts: [A, B], into: TWO }, IN_PARTS), merge('large 2', LARGE, IN_PARTS)],
    IN_PARTS,
  ),
  mergeScenario('a large merge against the undo of an earlier one', 4, [merge('large', LARGE), undo('undo')], {
    earlierMerges: [TWO_ORIGINS],
  }),
  mergeScenario('two large undos of one merge', 4, [undo('undo 1'), undo('undo 2')], { earlierMerges: [TWO_ORIGINS] }),
  mergeScenario(
    'a large merge of alerts that stay, and a small one',
    4,
    [merge('staying', { alerts: [A, B], into: ONE }), merge('taking', SMALL)],
    BEFORE,
  ),
  // The clock of the merge that takes the alert is behind.
  mergeScenario('a small merge of an alert that stays, and one that takes it', 2, [
    merge('staying', { alerts: [A], into: ONE }, { aheadMs: 1_000 }),
    merge('taking', SMALL, { aheadMs: 0 }),
  ]),
  mergeScenario('a large merge whose message comes at once', 3, [merge('large', LARGE)], { earlyDeliveries: 1 }),
  mergeScenario('a large merge in parts, whose message comes at once', 4, [merge('large', LARGE, IN_PARTS)], {
    ...BEFORE,
    ...IN_PARTS,
    earlyDeliveries: 1,
  }),
  mergeScenario('a large merge whose message comes at once, twice', 4, [merge('large', LARGE)], { earlyDeliveries: 2 }),
  mergeScenario(
    'small merges one after the other, and a large one',
    5,
    [
      merge('large', { alerts: [B, C], into: THREE }),
      oneByOne('small', ...[TWO, ONE, TWO].map((into, index) => merge(`small ${index}`, { alerts: [A], into }))),
    ],
    BEFORE,
  ),
  mergeScenario(
    'a large merge of alerts that stay against the undo of an earlier one',
    4,
    [merge('staying', TWO_ORIGINS), undo('undo')],
    { earlierMerges: [TWO_ORIGINS] },
  ),
  mergeScenario(
    'a large merge beside a small one of the previous release',
    4,
    [merge('large', TAKING), merge('small', STAYING, { transactionItems: 5, code: mergeOfPreviousRelease })],
    BESIDE,
  ),
  mergeScenario(
    'a small merge beside a large one of the previous release',
    4,
    [merge('large', TAKING, { code: mergeOfPreviousRelease }), merge('small', STAYING, { transactionItems: 4 })],
    BESIDE,
  ),
  mergeScenario(
    'a large merge beside one of the previous release',
    4,
    [merge('large', LARGE), merge('previous', { alerts: [B, C], into: TWO }, { code: mergeOfPreviousRelease })],
    BESIDE,
  ),
  mergeScenario(
    'a large merge whose message is lost, and the schedule that finishes it',
    2,
    [merge('large', { alerts: [A, B, C], into: THREE }, IN_PARTS)],
    { ...BEFORE, replacesFinisher: sweep('sweep'), ...IN_PARTS },
  ),
];
