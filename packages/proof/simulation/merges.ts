/** Scenarios of small and large merges, of their undos, and of what finishes large ones. */

import { id } from './environment.ts';
import type { Scenario } from './explore.ts';
import { A, B, C, merge, ONE, sweep, THREE, TWO, undo, withRetry } from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';
import { inTurn } from './scenario.ts';

const SMALL = { alerts: [A], into: TWO };
const OTHER_SMALL = { alerts: [A], into: THREE };
const LARGE = { alerts: [A, B], into: THREE };
const OTHER_LARGE = { alerts: [B, C], into: THREE };
const TWO_ORIGINS = { alerts: [A, C], into: TWO };
const STAYING = { alerts: [A, B], into: ONE };
/** One of two alerts is in the incident already; the other merge takes both. */
const _HALF_STAYING = { alerts: [A, C], into: ONE };
const _TAKING = { alerts: [A, C], into: THREE };

/** An earlier merge, so that the account has a merge order. Its alerts are in the incident already. */
const AFTER_STAYING = { earlierMerges: [STAYING] };
const AFTER_SMALL = { earlierMerges: [SMALL] };
const AFTER_LARGE = { earlierMerges: [TWO_ORIGINS] };
/** Each transaction moves one alert. */
const IN_PARTS = { transactionItems: 2 };
/** A transaction holds the merge of one alert together with a title or a key. */
const WITH_ONE_MORE = { transactionItems: 4 };

const small = merge('small', SMALL);
const large = merge('large', LARGE);
const undoing = undo('undo');

export const MERGES: readonly Scenario[] = [
  mergeScenario('merges of an alert that does not exist', 1, [
    merge('small, unknown alert', { alerts: [id(99)], into: TWO }),
    merge('large, unknown alert', { alerts: [A, id(99)], into: THREE }),
  ]),
  mergeScenario('two small merges of one alert', 1, [
    merge('small 1', { ...SMALL, title: 'second' }, WITH_ONE_MORE),
    merge('small 2', OTHER_SMALL),
  ]),
  mergeScenario(
    'three small merges of one alert',
    3,
    [TWO, THREE, ONE].map((into, index) => merge(`small ${index}`, { alerts: [A], into })),
  ),
  mergeScenario('two small merges, each retried with its key', 2, [
    withRetry('keyed 1', SMALL, WITH_ONE_MORE),
    withRetry('keyed 2', OTHER_SMALL, WITH_ONE_MORE),
  ]),
  mergeScenario('a merge against the undo of an earlier one', 2, [merge('merge', OTHER_SMALL), undoing], AFTER_SMALL),
  mergeScenario('two undos of one merge', 2, [undo('undo 1'), undo('undo 2')], AFTER_SMALL),
  mergeScenario(
    'a merge of an alert that stays against the undo of an earlier one',
    2,
    [merge('staying', SMALL), undoing],
    AFTER_SMALL,
  ),
  mergeScenario('two merges under one key', 2, [
    merge('keyed 1', { ...SMALL, key: 'k' }, WITH_ONE_MORE),
    merge('keyed 2', { alerts: [B], into: THREE, key: 'k' }, WITH_ONE_MORE),
  ]),
  mergeScenario(
    'two merges under a key that was used a day ago',
    2,
    ['keyed 1', 'keyed 2'].map((name) => merge(name, { ...OTHER_SMALL, key: 'k' }, WITH_ONE_MORE)),
    { earlierMerges: [{ ...SMALL, key: 'k', longAgo: true }] },
  ),
  mergeScenario(
    'a merge that changes an owner and has little time left',
    1,
    [merge('small', { ...SMALL, owner: 7 }, { transactionItems: 5, timeMs: 5 })],
    { isHurried: true },
  ),
  // The clock of the merge that takes the alert is behind.
  mergeScenario('a small merge of an alert that stays, and one that takes it', 2, [
    merge('staying', { alerts: [A], into: ONE }, { aheadMs: 1_000 }),
    merge('taking', SMALL, { aheadMs: 0 }),
  ]),

  // Large merges.
  mergeScenario('a large merge, retried with its key', 2, [withRetry('keyed large', { alerts: [A, B], into: TWO })]),
  mergeScenario('a large merge of three alerts that changes a title', 1, [
    merge('three', { alerts: [C, A, B], into: TWO, title: 'second' }),
  ]),
  mergeScenario(
    'a large merge in three parts',
    2,
    [merge('three', { alerts: [C, A, B], into: TWO }, IN_PARTS)],
    IN_PARTS,
  ),
  // The clock of the second actor is ahead, so both orders are tried.
  mergeScenario('a large and a small merge of one alert', 4, [large, small], AFTER_STAYING),
  mergeScenario('a small and a large merge of one alert', 4, [small, large], AFTER_STAYING),
  mergeScenario(
    'a small and a large merge, retried with their keys',
    4,
    [withRetry('small', SMALL, WITH_ONE_MORE), withRetry('large', LARGE)],
    AFTER_STAYING,
  ),
  mergeScenario(
    'two large merges that share an alert',
    4,
    [merge('large 1', { alerts: [A, B], into: TWO }), merge('large 2', OTHER_LARGE)],
    AFTER_STAYING,
  ),
  mergeScenario(
    'two large merges of the same alerts, in parts',
    5,
    [merge('large 1', { alerts: [A, B], into: TWO }, IN_PARTS), merge('large 2', LARGE, IN_PARTS)],
    IN_PARTS,
  ),
  mergeScenario('a large merge against the undo of an earlier one', 4, [large, undoing], AFTER_LARGE),
  mergeScenario('two large undos of one merge', 4, [undo('undo 1'), undo('undo 2')], AFTER_LARGE),
  mergeScenario(
    'a large merge of alerts that stay, and a small one',
    4,
    [merge('staying', STAYING), merge('taking', SMALL)],
    AFTER_STAYING,
  ),
  mergeScenario(
    'a large merge of alerts that stay against the undo of an earlier one',
    4,
    [merge('staying', TWO_ORIGINS), undoing],
    AFTER_LARGE,
  ),
  mergeScenario(
    'small merges one after the other, and a large one',
    5,
    [
      merge('large', OTHER_LARGE),
      inTurn('small', ...[TWO, ONE, TWO].map((into, index) => merge(`small ${index}`, { alerts: [A], into }))),
    ],
    AFTER_STAYING,
  ),

  // What finishes a large merge.
  mergeScenario('a large merge whose message comes at once', 3, [large], { earlyDeliveries: 1 }),
  mergeScenario('a large merge in parts, whose message comes at once', 4, [merge('large', LARGE, IN_PARTS)], {
    ...AFTER_STAYING,
    ...IN_PARTS,
    earlyDeliveries: 1,
  }),
  mergeScenario('a large merge whose message comes at once, twice', 4, [large], { earlyDeliveries: 2 }),
  mergeScenario(
    'a large merge whose message is lost, and the schedule that finishes it',
    2,
    [merge('large', { alerts: [A, B, C], into: THREE }, IN_PARTS)],
    { ...AFTER_STAYING, replacesFinisher: sweep('sweep'), ...IN_PARTS },
  ),
];
