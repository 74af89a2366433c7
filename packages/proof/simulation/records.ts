/**
 * Scenarios of feed records beside merges, undos and imports: no record moves an alert or breaks a merge, and the latest of each prevails.
 */
import type { Scenario } from './explore.ts';
import {
  A,
  alertRecord,
  B,
  C,
  importAlert,
  incidentRecord,
  latestRecord,
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
  mergeScenario('a small merge against records of its alert', 2, [
    merge('small', SMALL),
    alertRecord(A, THREE, 'early'),
    alertRecord(A, THREE),
  ]),
  mergeScenario('a small merge against the record that creates its alert', 2, [
    merge('small', { alerts: [NEW], into: TWO }),
    alertRecord(NEW, ONE),
  ]),
  mergeScenario('a small merge that changes an incident against its records', 3, [
    merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
    incidentRecord(TWO, 'early'),
    incidentRecord(TWO, 'late'),
  ]),
  mergeScenario('a small merge that changes an incident against a later record', 2, [
    merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
    latestRecord(TWO),
  ]),
  mergeScenario(
    'a second merge that changes an incident against its record',
    2,
    [merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }), incidentRecord(TWO, 'late')],
    { earlierMerges: [{ alerts: [B], into: TWO, owner: 7 }] },
  ),
  mergeScenario('a large merge against a record of its alert', 3, [merge('large', LARGE), alertRecord(A, THREE)]),
  mergeScenario('a large merge that changes an incident against its record', 3, [
    merge('large', { ...LARGE, title: 'second' }),
    incidentRecord(TWO, 'late'),
  ]),
  mergeScenario(
    'an undo against records of its alert and incident',
    3,
    [undo('undo'), alertRecord(A, THREE), incidentRecord(TWO, 'late')],
    { earlierMerges: [{ ...SMALL, title: 'second' }] },
  ),
  mergeScenario('a large undo against a record of its alert', 3, [undo('undo'), alertRecord(A, THREE)], {
    earlierMerges: [{ alerts: [A, C], into: TWO }],
  }),
  mergeScenario('an import of an alert against its record', 1, [importAlert(A, TWO), alertRecord(A, THREE)]),
];
