/** Merges against operators, who import what merges change, and repair what a restore has torn. */
import type { Scenario } from './explore.ts';
import {
  A,
  B,
  loadAlert,
  loadIncident,
  merge,
  ONE,
  oneByOne,
  repairing,
  repairOnce,
  THREE,
  TWO,
  undo,
} from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';

const SMALL = { alerts: [A], into: TWO };
const LARGE = { alerts: [A, B], into: TWO };

export const IMPORTS: readonly Scenario[] = [
  mergeScenario({
    name: 'a small merge against the import of its alert',
    cost: 2,
    actors: [merge('small', SMALL), loadAlert(A, ONE)],
  }),
  mergeScenario({
    name: 'two small merges against the import of their alert',
    cost: 3,
    actors: [merge('small 1', SMALL), loadAlert(A, ONE), merge('small 2', { alerts: [A], into: THREE })],
  }),
  mergeScenario({
    name: 'a small merge that changes an incident against imports',
    cost: 2,
    actors: [
      merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
      oneByOne('imports', loadAlert(A, ONE), loadIncident(TWO, 'third')),
    ],
  }),
  mergeScenario({
    name: 'a large merge against the import of its alert',
    cost: 3,
    actors: [merge('large', LARGE), loadAlert(A, ONE)],
  }),
  mergeScenario({
    name: 'a large merge of an alert that stays against its import',
    cost: 3,
    actors: [merge('staying', { alerts: [A, B], into: ONE }), loadAlert(A, THREE)],
  }),
  mergeScenario({
    name: 'a large merge that changes an incident against imports',
    cost: 4,
    actors: [
      merge('large', { ...LARGE, title: 'second' }),
      oneByOne('imports', loadAlert(A, ONE), loadIncident(TWO, 'third')),
    ],
  }),
  mergeScenario({
    name: 'an undoing against the import of its alert',
    cost: 2,
    after: [A],
    actors: [undo('undo'), loadAlert(A, THREE)],
  }),
  mergeScenario({
    name: 'a large undoing against the import of its alert',
    cost: 3,
    after: [A, B],
    actors: [undo('undo'), loadAlert(A, THREE)],
  }),
  mergeScenario({
    name: 'two imports of an alert',
    cost: 2,
    actors: [loadAlert(A, TWO, 'import 1'), loadAlert(A, THREE, 'import 2')],
  }),
  mergeScenario({
    name: 'a small merge against a repair',
    cost: 3,
    actors: [merge('small', { ...SMALL, title: 'second', key: 'k' }, { transactionItems: 5 }), repairing('repair')],
  }),
  mergeScenario({
    name: 'a large merge against a repair',
    cost: 6,
    actors: [merge('large', { ...LARGE, title: 'second', key: 'k' }), repairing('repair')],
  }),
  mergeScenario({
    name: 'two repairs of an alert that is not where its feed says',
    cost: 3,
    misplaced: A,
    actors: [repairOnce('repair 1'), repairOnce('repair 2')],
  }),
  mergeScenario({
    name: 'a small merge that a restore has torn, repaired',
    cost: 3,
    torn: { ...SMALL, title: 'second', key: 'k' },
    transactionItems: 5,
    actors: [repairing('repair')],
  }),
  mergeScenario({
    name: 'a large merge without title and key that a restore has torn, repaired',
    cost: 6,
    torn: LARGE,
    actors: [repairing('repair')],
  }),
  mergeScenario({
    name: 'a large merge that a restore has torn, repaired',
    cost: 6,
    torn: { ...LARGE, title: 'second', key: 'k' },
    actors: [repairing('repair')],
  }),
];
