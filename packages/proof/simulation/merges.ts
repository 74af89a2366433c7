/** Scenarios of small merges, of a large one alone, and of their undos. */
import type { Scenario } from './explore.ts';
import { A, B, C, merge, ONE, THREE, TWO, undo, withRetry } from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';
import { id } from './surroundings.ts';

const SMALL = { alerts: [A], into: TWO };

export const MERGES: readonly Scenario[] = [
  mergeScenario({
    name: 'merges of an alert that does not exist',
    cost: 1,
    actors: [
      merge('small of none', { alerts: [id(99)], into: TWO }),
      merge('large of some', { alerts: [A, id(99)], into: THREE }),
    ],
  }),
  mergeScenario({
    name: 'two small merges of one alert',
    cost: 1,
    actors: [
      merge('small 1', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
      merge('small 2', { alerts: [A], into: THREE }),
    ],
  }),
  mergeScenario({
    name: 'three small merges of one alert',
    cost: 3,
    actors: [TWO, THREE, ONE].map((into, index) => merge(`one of three ${index}`, { alerts: [A], into })),
  }),
  mergeScenario({
    name: 'two small merges, each retried with its key',
    cost: 2,
    actors: [
      withRetry('keyed 1', SMALL, { transactionItems: 4 }),
      withRetry('keyed 2', { alerts: [A], into: THREE }, { transactionItems: 4 }),
    ],
  }),
  mergeScenario({
    name: 'a large merge, retried with its key',
    cost: 2,
    actors: [withRetry('keyed large', { alerts: [A, B], into: TWO })],
  }),
  mergeScenario({
    name: 'a large merge that outlives its holder',
    cost: 1,
    actors: [merge('three', { alerts: [C, A, B], into: TWO, title: 'second' })],
  }),
  mergeScenario({
    name: 'a large merge in three parts',
    cost: 2,
    actors: [merge('three', { alerts: [C, A, B], into: TWO }, { transactionItems: 2 })],
    transactionItems: 2,
  }),
  mergeScenario({
    name: 'a merge against the undo of an earlier one',
    cost: 2,
    earlierMerges: [SMALL],
    actors: [merge('merge', { alerts: [A], into: THREE }), undo('undo')],
  }),
  mergeScenario({
    name: 'two undos of one merge',
    cost: 2,
    earlierMerges: [SMALL],
    actors: [undo('undo 1'), undo('undo 2')],
  }),
  mergeScenario({
    name: 'a merge that an alert stays in against the undo of an earlier one',
    cost: 2,
    earlierMerges: [SMALL],
    actors: [merge('staying', SMALL), undo('undo')],
  }),
  mergeScenario({
    name: 'two merges under one key',
    cost: 2,
    actors: [
      merge('one', { ...SMALL, key: 'k' }, { transactionItems: 4 }),
      merge('other', { alerts: [B], into: THREE, key: 'k' }, { transactionItems: 4 }),
    ],
  }),
  mergeScenario({
    name: 'two merges under a key that was used a day ago',
    cost: 2,
    earlierMerges: [{ ...SMALL, key: 'k', longAgo: true }],
    actors: ['one', 'other'].map((name) =>
      merge(name, { alerts: [A], into: THREE, key: 'k' }, { transactionItems: 4 }),
    ),
  }),
  mergeScenario({
    name: 'a merge that changes an owner, whose time is nearly over',
    cost: 1,
    actors: [merge('small', { ...SMALL, owner: 7 }, { transactionItems: 5, timeMs: 5 })],
    isHurried: true,
  }),
];
