/** Small merges, a large one by itself, and their undoing. */
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
    name: 'two small merges, each said again under its key',
    cost: 2,
    actors: [
      withRetry('keyed 1', SMALL, { transactionItems: 4 }),
      withRetry('keyed 2', { alerts: [A], into: THREE }, { transactionItems: 4 }),
    ],
  }),
  mergeScenario({
    name: 'a large merge, said again under its key',
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
    name: 'a merge against the undoing of an earlier one',
    cost: 2,
    after: [A],
    actors: [merge('merge', { alerts: [A], into: THREE }), undo('undo')],
  }),
  mergeScenario({ name: 'two undoings of one merge', cost: 2, after: [A], actors: [undo('undo 1'), undo('undo 2')] }),
];
