/** Scenarios of small merges, of a large one alone, and of their undos. */
import type { Scenario } from './explore.ts';
import { A, B, C, merge, ONE, THREE, TWO, undo, withRetry } from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';
import { id } from './surroundings.ts';

const SMALL = { alerts: [A], into: TWO };

export const MERGES: readonly Scenario[] = [
  mergeScenario('merges of an alert that does not exist', 1, [
    merge('small of none', { alerts: [id(99)], into: TWO }),
    merge('large of some', { alerts: [A, id(99)], into: THREE }),
  ]),
  mergeScenario('two small merges of one alert', 1, [
    merge('small 1', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
    merge('small 2', { alerts: [A], into: THREE }),
  ]),
  mergeScenario(
    'three small merges of one alert',
    3,
    [TWO, THREE, ONE].map((into, index) => merge(`one of three ${index}`, { alerts: [A], into })),
  ),
  mergeScenario('two small merges, each retried with its key', 2, [
    withRetry('keyed 1', SMALL, { transactionItems: 4 }),
    withRetry('keyed 2', { alerts: [A], into: THREE }, { transactionItems: 4 }),
  ]),
  mergeScenario('a large merge, retried with its key', 2, [withRetry('keyed large', { alerts: [A, B], into: TWO })]),
  mergeScenario('a large merge that outlives its holder', 1, [
    merge('three', { alerts: [C, A, B], into: TWO, title: 'second' }),
  ]),
  mergeScenario(
    'a large merge in three parts',
    2,
    [merge('three', { alerts: [C, A, B], into: TWO }, { transactionItems: 2 })],
    { transactionItems: 2 },
  ),
  mergeScenario(
    'a merge against the undo of an earlier one',
    2,
    [merge('merge', { alerts: [A], into: THREE }), undo('undo')],
    { earlierMerges: [SMALL] },
  ),
  mergeScenario('two undos of one merge', 2, [undo('undo 1'), undo('undo 2')], { earlierMerges: [SMALL] }),
  mergeScenario(
    'a merge that an alert stays in against the undo of an earlier one',
    2,
    [merge('staying', SMALL), undo('undo')],
    { earlierMerges: [SMALL] },
  ),
  mergeScenario('two merges under one key', 2, [
    merge('one', { ...SMALL, key: 'k' }, { transactionItems: 4 }),
    merge('other', { alerts: [B], into: THREE, key: 'k' }, { transactionItems: 4 }),
  ]),
  mergeScenario(
    'two merges under a key that was used a day ago',
    2,
    ['one', 'other'].map((name) => merge(name, { alerts: [A], into: THREE, key: 'k' }, { transactionItems: 4 })),
    { earlierMerges: [{ ...SMALL, key: 'k', longAgo: true }] },
  ),
  mergeScenario(
    'a merge that changes an owner, whose time is nearly over',
    1,
    [merge('small', { ...SMALL, owner: 7 }, { transactionItems: 5, timeMs: 5 })],
    { isHurried: true },
  ),
];
