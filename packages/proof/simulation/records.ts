/**
 * Scenarios of feed records beside merges, undos and imports: no record moves an alert or breaks a merge, and the latest of each prevails.
 */
import type { Scenario } from './explore.ts';
import {
  A,
  alertRecord,
  B,
  C,
  incidentRecord,
  latestRecord,
  loadAlert,
  merge,
  NEW,
  ONE,
  THREE,
  TWO,
  undo,
} from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';

const SMALL = { alerts: [A], into: TWO };
const LARGE = { alerts: [A, B], into: TWO };

export const RECORDS: readonly Scenario[] = [
  mergeScenario({
    name: 'a small merge against records of its alert',
    cost: 2,
    actors: [merge('small', SMALL), alertRecord(A, THREE, 'early'), alertRecord(A, THREE)],
  }),
  mergeScenario({
    name: 'a small merge against the record that creates its alert',
    cost: 2,
    actors: [merge('small', { alerts: [NEW], into: TWO }), alertRecord(NEW, ONE)],
  }),
  mergeScenario({
    name: 'a small merge that changes an incident against its records',
    cost: 3,
    actors: [
      merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
      incidentRecord(TWO, 'early'),
      incidentRecord(TWO, 'late'),
    ],
  }),
  mergeScenario({
    name: 'a small merge that changes an incident against a later record',
    cost: 2,
    actors: [merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }), latestRecord(TWO)],
  }),
  mergeScenario({
    name: 'a second merge that changes an incident against its record',
    cost: 2,
    earlierMerges: [{ alerts: [B], into: TWO, owner: 7 }],
    actors: [merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }), incidentRecord(TWO, 'late')],
  }),
  mergeScenario({
    name: 'a large merge against a record of its alert',
    cost: 3,
    actors: [merge('large', LARGE), alertRecord(A, THREE)],
  }),
  mergeScenario({
    name: 'a large merge that changes an incident against its record',
    cost: 3,
    actors: [merge('large', { ...LARGE, title: 'second' }), incidentRecord(TWO, 'late')],
  }),
  mergeScenario({
    name: 'an undo against records of its alert and incident',
    cost: 3,
    earlierMerges: [{ ...SMALL, title: 'second' }],
    actors: [undo('undo'), alertRecord(A, THREE), incidentRecord(TWO, 'late')],
  }),
  mergeScenario({
    name: 'a large undo against a record of its alert',
    cost: 3,
    earlierMerges: [{ alerts: [A, C], into: TWO }],
    actors: [undo('undo'), alertRecord(A, THREE)],
  }),
  mergeScenario({
    name: 'an import of an alert against its record',
    cost: 1,
    actors: [loadAlert(A, TWO), alertRecord(A, THREE)],
  }),
];
