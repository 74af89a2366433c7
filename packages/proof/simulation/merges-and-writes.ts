/**
 * Scenarios of merges beside other writes and reads of the same rows: imports, exports, repairs after a restore, and records of the feed.
 * No record moves an alert or breaks a merge; the latest record of a row prevails.
 */
import { type Key, parseKey } from '../../../lib/dynamodb/keys.ts';
import type { Scenario } from './explore.ts';
import {
  A,
  alertRecord,
  B,
  C,
  exporting,
  importAlert,
  importIncident,
  incidentRecord,
  latestRecord,
  merge,
  NEW,
  ONE,
  repairing,
  repairOnce,
  THREE,
  TWO,
  undo,
} from './merge-actors.ts';
import { mergeScenario } from './merge-scenario.ts';
import { inTurn } from './scenario.ts';

const SMALL = { alerts: [A], into: TWO };
const LARGE = { alerts: [A, B], into: TWO };
const TWO_ORIGINS = { alerts: [A, C], into: TWO };
const AFTER_SMALL = { earlierMerges: [SMALL] };
const AFTER_LARGE = { earlierMerges: [TWO_ORIGINS] };
const WITH_OWNER = { title: 'second', owner: 7 };

const small = merge('small', SMALL);
const large = merge('large', LARGE);
const smallWithTitle = merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 });
const largeWithTitle = merge('large', { ...LARGE, title: 'second' });
const undoing = undo('undo');
const repairs = repairing('repair');
const imports = inTurn('imports', importAlert(A, ONE), importIncident(TWO, 'third'));
const lateRecord = incidentRecord(TWO, 'late');

export const MERGES_AND_WRITES: readonly Scenario[] = [
  mergeScenario('a small merge against the import of its alert', 2, [small, importAlert(A, ONE)]),
  mergeScenario('two small merges against the import of their alert', 3, [
    merge('small 1', SMALL),
    importAlert(A, ONE),
    merge('small 2', { alerts: [A], into: THREE }),
  ]),
  mergeScenario('a small merge that changes an incident against imports', 2, [smallWithTitle, imports]),
  mergeScenario('a large merge against the import of its alert', 3, [large, importAlert(A, ONE)]),
  mergeScenario('a large merge of an alert that stays against its import', 3, [
    merge('staying', { alerts: [A, B], into: ONE }),
    importAlert(A, THREE),
  ]),
  mergeScenario('a large merge that changes an incident against imports', 4, [largeWithTitle, imports]),
  mergeScenario('an undo against the import of its alert', 2, [undoing, importAlert(A, THREE)], AFTER_SMALL),
  mergeScenario('a large undo against the import of its alert', 3, [undoing, importAlert(A, THREE)], AFTER_LARGE),
  mergeScenario('two imports of an alert', 2, [importAlert(A, TWO, 'import 1'), importAlert(A, THREE, 'import 2')]),

  // Repairs.
  mergeScenario('a small merge against a repair', 3, [
    merge('small', { ...SMALL, title: 'second', key: 'k' }, { transactionItems: 5 }),
    repairs,
  ]),
  mergeScenario('a large merge against a repair', 6, [
    merge('large', { ...LARGE, title: 'second', key: 'k' }),
    repairs,
  ]),
  mergeScenario(
    'two repairs of an alert that is not where its feed says',
    3,
    [repairOnce('repair 1'), repairOnce('repair 2')],
    { misplaced: A },
  ),
  mergeScenario('a small merge that a restore has torn, repaired', 3, [repairs], {
    torn: [{ ...SMALL, ...WITH_OWNER, key: 'k' }],
    transactionItems: 6,
  }),
  mergeScenario('a large merge without title and key that a restore has torn, repaired', 6, [repairs], {
    torn: [LARGE],
  }),
  mergeScenario('a large merge that a restore has torn, repaired', 6, [repairs], {
    torn: [{ ...LARGE, ...WITH_OWNER, key: 'k' }],
  }),
  mergeScenario('two merges, one after the other, whose entries a restore has lost, repaired', 3, [repairs], {
    torn: [LARGE, { alerts: [A], into: THREE }],
    transactionItems: 4,
    startsWhere: (rows) => ![...rows.values()].some((item) => parseKey(item as Key)?.kind === 'feedEntry'),
  }),

  // Exports.
  mergeScenario('an export during a small merge', 2, [
    merge('small', { ...SMALL, ...WITH_OWNER }, { transactionItems: 5 }),
    exporting('export'),
  ]),
  mergeScenario('an export during a large merge', 3, [
    merge('large', { ...TWO_ORIGINS, ...WITH_OWNER }),
    exporting('export'),
  ]),

  // Records of the feed.
  mergeScenario('a small merge against records of its alert', 2, [
    small,
    alertRecord(A, THREE, 'early'),
    alertRecord(A, THREE),
  ]),
  mergeScenario('a small merge against the record that creates its alert', 2, [
    merge('small', { alerts: [NEW], into: TWO }),
    alertRecord(NEW, ONE),
  ]),
  mergeScenario('a small merge that changes an incident against its records', 3, [
    smallWithTitle,
    incidentRecord(TWO, 'early'),
    lateRecord,
  ]),
  mergeScenario('a small merge that changes an incident against a later record', 2, [
    smallWithTitle,
    latestRecord(TWO),
  ]),
  mergeScenario('a second merge that changes an incident against its record', 2, [smallWithTitle, lateRecord], {
    earlierMerges: [{ alerts: [B], into: TWO, owner: 7 }],
  }),
  mergeScenario('a large merge against a record of its alert', 3, [large, alertRecord(A, THREE)]),
  mergeScenario('a large merge that changes an incident against its record', 3, [largeWithTitle, lateRecord]),
  mergeScenario('an undo against records of its alert and incident', 3, [undoing, alertRecord(A, THREE), lateRecord], {
    earlierMerges: [{ ...SMALL, title: 'second' }],
  }),
  mergeScenario('a large undo against a record of its alert', 3, [undoing, alertRecord(A, THREE)], AFTER_LARGE),
  mergeScenario('an import of an alert against its record', 1, [importAlert(A, TWO), alertRecord(A, THREE)]),
];
