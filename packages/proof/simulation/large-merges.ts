/** Scenarios of large merges beside others, and of what finishes them. */
import type { Scenario } from './explore.ts';
import { A, B, C, merge, ONE, oneByOne, sweep, THREE, TWO, undo, withRetry } from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';
import { mergeOfPreviousRelease } from './previous-release.ts';

const SMALL = { alerts: [A], into: TWO };
const LARGE = { alerts: [A, B], into: THREE };
/** An earlier merge, so that there is a merge order. Its alerts are in the incident already. */
const BEFORE = { earlierMerges: [{ alerts: [A, B], into: ONE }] };
const TWO_ORIGINS = { alerts: [A, C], into: TWO };
/** One of two alerts is in the incident already; the other merge takes both. */
const STAYING = { alerts: [A, C], into: ONE };
const TAKING = { alerts: [A, C], into: THREE };
/** The previous release may read half a transaction, and always did: no later release can change that. */
const BESIDE = { cost: 4, ...BEFORE, without: 'shows a row late' } as const;
/** One alert is moved at once. */
const IN_PARTS = { transactionItems: 2 };

export const LARGE_MERGES: readonly Scenario[] = [
  // Their order shows whose clock is ahead.
  mergeScenario({
    name: 'a large and a small merge of one alert',
    cost: 4,
    ...BEFORE,
    actors: [merge('large', LARGE), merge('small', SMALL)],
  }),
  mergeScenario({
    name: 'a small and a large merge of one alert',
    cost: 4,
    ...BEFORE,
    actors: [merge('small', SMALL), merge('large', LARGE)],
  }),
  mergeScenario({
    name: 'a small and a large merge, retried with their keys',
    cost: 4,
    ...BEFORE,
    actors: [withRetry('small', SMALL, { transactionItems: 4 }), withRetry('large', LARGE)],
  }),
  mergeScenario({
    name: 'two large merges that share an alert',
    cost: 4,
    ...BEFORE,
    actors: [merge('large 1', { alerts: [A, B], into: TWO }), merge('large 2', { alerts: [B, C], into: THREE })],
  }),
  mergeScenario({
    name: 'two large merges of the same alerts, in parts',
    cost: 5,
    actors: [merge('large 1', { alerts: [A, B], into: TWO }, IN_PARTS), merge('large 2', LARGE, IN_PARTS)],
    ...IN_PARTS,
  }),
  mergeScenario({
    name: 'a large merge against the undo of an earlier one',
    cost: 4,
    earlierMerges: [TWO_ORIGINS],
    actors: [merge('large', LARGE), undo('undo')],
  }),
  mergeScenario({
    name: 'two large undos of one merge',
    cost: 4,
    earlierMerges: [TWO_ORIGINS],
    actors: [undo('undo 1'), undo('undo 2')],
  }),
  mergeScenario({
    name: 'a large merge of alerts that stay, and a small one',
    cost: 4,
    ...BEFORE,
    actors: [merge('staying', { alerts: [A, B], into: ONE }), merge('taking', SMALL)],
  }),
  mergeScenario({
    name: 'a small merge of an alert that stays, and one that takes it',
    cost: 2,
    // The later one with the clock that is behind.
    actors: [merge('staying', { alerts: [A], into: ONE }, { aheadMs: 1_000 }), merge('taking', SMALL, { aheadMs: 0 })],
  }),
  mergeScenario({
    name: 'a large merge whose message comes at once',
    cost: 3,
    actors: [merge('large', LARGE)],
    earlyDeliveries: 1,
  }),
  mergeScenario({
    name: 'a large merge in parts, whose message comes at once',
    cost: 4,
    ...BEFORE,
    actors: [merge('large', LARGE, IN_PARTS)],
    ...IN_PARTS,
    earlyDeliveries: 1,
  }),
  mergeScenario({
    name: 'a large merge whose message comes at once, twice',
    cost: 4,
    actors: [merge('large', LARGE)],
    earlyDeliveries: 2,
  }),
  mergeScenario({
    name: 'small merges one after the other, and a large one',
    cost: 5,
    ...BEFORE,
    actors: [
      merge('large', { alerts: [B, C], into: THREE }),
      oneByOne('small', ...[TWO, ONE, TWO].map((into, index) => merge(`small ${index}`, { alerts: [A], into }))),
    ],
  }),
  mergeScenario({
    name: 'a large merge of alerts that stay against the undo of an earlier one',
    cost: 4,
    earlierMerges: [TWO_ORIGINS],
    actors: [merge('staying', TWO_ORIGINS), undo('undo')],
  }),
  mergeScenario({
    name: 'a large merge beside a small one of the previous release',
    ...BESIDE,
    actors: [merge('large', TAKING), merge('small', STAYING, { transactionItems: 5, code: mergeOfPreviousRelease })],
  }),
  mergeScenario({
    name: 'a small merge beside a large one of the previous release',
    ...BESIDE,
    actors: [
      merge('large', TAKING, { code: mergeOfPreviousRelease }),
      merge('small', STAYING, { transactionItems: 4 }),
    ],
  }),
  mergeScenario({
    name: 'a large merge beside one of the previous release',
    ...BESIDE,
    actors: [merge('large', LARGE), merge('previous', { alerts: [B, C], into: TWO }, { code: mergeOfPreviousRelease })],
  }),
  mergeScenario({
    name: 'a large merge whose message is lost, and the schedule that finishes it',
    cost: 2,
    ...BEFORE,
    actors: [merge('large', { alerts: [A, B, C], into: THREE }, IN_PARTS)],
    replacesFinisher: sweep('sweep'),
    ...IN_PARTS,
  }),
];
