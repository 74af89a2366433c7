/** Large merges against others, and what finishes them. */
import type { Scenario } from './explore.ts';
import { A, B, C, merge, ONE, oneByOne, THREE, TWO, undo, withRetry } from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';

const SMALL = { alerts: [A], into: TWO };
const LARGE = { alerts: [A, B], into: THREE };
/** One alert is moved at once. */
const IN_PARTS = { transactionItems: 2 };

export const LARGE_MERGES: readonly Scenario[] = [
  // Whose clock is ahead is told by their order.
  mergeScenario({
    name: 'a large and a small merge of one alert',
    cost: 4,
    actors: [merge('large', LARGE), merge('small', SMALL)],
  }),
  mergeScenario({
    name: 'a small and a large merge of one alert',
    cost: 4,
    actors: [merge('small', SMALL), merge('large', LARGE)],
  }),
  mergeScenario({
    name: 'a small and a large merge, said again under their keys',
    cost: 4,
    actors: [withRetry('small', SMALL, { transactionItems: 4 }), withRetry('large', LARGE)],
  }),
  mergeScenario({
    name: 'two large merges that share an alert',
    cost: 4,
    actors: [merge('large 1', { alerts: [A, B], into: TWO }), merge('large 2', { alerts: [B, C], into: THREE })],
  }),
  mergeScenario({
    name: 'two large merges of the same alerts, in parts',
    cost: 4,
    actors: [merge('large 1', { alerts: [A, B], into: TWO }, IN_PARTS), merge('large 2', LARGE, IN_PARTS)],
    ...IN_PARTS,
  }),
  mergeScenario({
    name: 'a large merge against the undoing of an earlier one',
    cost: 4,
    after: [A, B],
    actors: [merge('large', LARGE), undo('undo')],
  }),
  mergeScenario({
    name: 'two large undoings of one merge',
    cost: 4,
    after: [A, B],
    actors: [undo('undo 1'), undo('undo 2')],
  }),
  mergeScenario({
    name: 'a large merge of alerts that stay, and a small one',
    cost: 4,
    actors: [merge('staying', { alerts: [A, B], into: ONE }), merge('taking', SMALL)],
  }),
  mergeScenario({
    name: 'a small merge of an alert that stays, and one that takes it',
    cost: 2,
    actors: [merge('staying', { alerts: [A], into: ONE }, { aheadMs: 1_000 }), merge('taking', SMALL, { aheadMs: 0 })],
  }),
  mergeScenario({
    name: 'a large merge whose message comes at once',
    cost: 3,
    actors: [merge('large', LARGE)],
    early: 1,
  }),
  mergeScenario({
    name: 'a large merge in parts, whose message comes at once',
    cost: 4,
    actors: [merge('large', LARGE, IN_PARTS)],
    ...IN_PARTS,
    early: 1,
  }),
  mergeScenario({
    name: 'a large merge whose message comes at once, twice',
    cost: 4,
    actors: [merge('large', LARGE)],
    early: 2,
  }),
  mergeScenario({
    name: 'small merges one after the other, and a large one',
    cost: 5,
    actors: [
      // It loses once at the most, however many small ones come and go.
      merge('large', { alerts: [B, C], into: THREE }, { mostCalls: 10 }),
      oneByOne('small', ...[TWO, ONE, TWO].map((into, index) => merge(`small ${index}`, { alerts: [A], into }))),
    ],
  }),
];
