/** Scenarios of merges beside operators who import what merges change, and repair what a restore has cut in two. */
import { type Key, parseKey } from '../../../lib/dynamodb/keys.ts';
import type { Scenario } from './explore.ts';
import {
  A,
  B,
  C,
  exporting,
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
const TWO_ORIGINS = { alerts: [A, C], into: TWO };

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
    name: 'an undo against the import of its alert',
    cost: 2,
    earlierMerges: [SMALL],
    actors: [undo('undo'), loadAlert(A, THREE)],
  }),
  mergeScenario({
    name: 'a large undo against the import of its alert',
    cost: 3,
    earlierMerges: [TWO_ORIGINS],
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
    torn: [{ ...SMALL, title: 'second', owner: 7, key: 'k' }],
    transactionItems: 6,
    actors: [repairing('repair')],
  }),
  mergeScenario({
    name: 'a large merge without title and key that a restore has torn, repaired',
    cost: 6,
    torn: [LARGE],
    actors: [repairing('repair')],
  }),
  mergeScenario({
    name: 'a large merge that a restore has torn, repaired',
    cost: 6,
    torn: [{ ...LARGE, title: 'second', owner: 7, key: 'k' }],
    actors: [repairing('repair')],
  }),
  mergeScenario({
    name: 'two merges, one after the other, whose entries a restore has lost, repaired',
    cost: 3,
    torn: [LARGE, { alerts: [A], into: THREE }],
    transactionItems: 4,
    startsWhere: (rows) => ![...rows.values()].some(({ item }) => parseKey(item as Key)?.kind === 'feedEntry'),
    actors: [repairing('repair')],
  }),
  mergeScenario({
    name: 'an export during a small merge',
    cost: 2,
    actors: [
      merge('small', { alerts: [A], into: TWO, title: 'second', owner: 7 }, { transactionItems: 5 }),
      exporting('export'),
    ],
  }),
  mergeScenario({
    name: 'an export during a large merge',
    cost: 3,
    actors: [merge('large', { ...TWO_ORIGINS, title: 'second', owner: 7 }), exporting('export')],
  }),
];
