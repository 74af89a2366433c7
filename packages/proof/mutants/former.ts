/** What the protocol once did wrong, or `npm run prove` once did not see, in the code as it is now: for `npm run prove:mutants`. */
import type { Bug } from './plant.ts';

export interface Former extends Bug {
  /** The scenario that must fail, which holds without the bug; absent: any. */
  scenario?: string;
}

export const FORMER: readonly Former[] = [
  {
    name: 'throttling ends the commit of a merge',
    file: 'lib/operations/merge-alerts/commit.ts',
    find: "    const retry: CommitResult = { outcome: 'retry' };\n",
    replace:
      "    const retry: CommitResult = { outcome: 'retry' };\n    if (String(result.outcome) === 'throttled') throw new Error('throttled');\n",
  },
  {
    name: 'throttling ends the moves of a merge',
    file: 'lib/operations/merge-alerts/move.ts',
    find: "      case 'throttled':\n",
    replace: "      case 'throttled':\n        if (attempt >= 0) throw new Error('throttled');\n",
  },
  {
    name: 'the later of two accounts that store a key takes it',
    file: 'packages/admin/accounts/app-key-admin.ts',
    find: ' : IS_NEW;',
    replace: ' : undefined;',
  },
  {
    name: 'a table restored to a moment within a large merge is found whole',
    file: 'packages/admin/check/check-merge-order.ts',
    find: 'nowMs - entry.at_ms <= OVERDUE_MS',
    replace: 'nowMs >= 0',
  },
  {
    name: 'an undo sends all alerts to where the first of them came from',
    file: 'lib/operations/merge-alerts/assignment.ts',
    find: '{ to: origins.get(alertId) }',
    replace: '{ to: [...origins.values()][0] }',
    scenario: 'a large undo against the import of its alert',
  },
  {
    name: 'a merge whose time ends before another attempt does not look whether it is committed',
    file: 'lib/operations/merge-alerts/commit.ts',
    find: '      found = await find();\n      if (!found) throw error;',
    replace: '      if (!found || error) throw error;',
    scenario: 'a merge that changes an owner, whose time is nearly over',
  },
  {
    name: 'a repair does not restore the owner',
    file: 'packages/admin/check/check-incidents.ts',
    find: 'set({ title: should.title, owner_id: should.owner_id, ',
    replace: 'set({ title: should.title, ',
    scenario: 'a small merge that a restore has torn, repaired',
  },
  {
    name: 'a batch that is read in part is taken as complete',
    file: 'lib/dynamodb/batch-get.ts',
    find: 'if (!request?.[tableName]) return;',
    replace: 'if (!request?.[tableName] || items.length > 0) return;',
    scenario: 'two small merges of one alert',
  },
  {
    name: 'an Idempotency-Key cannot be used again after a day',
    file: 'lib/operations/merge-alerts/commit.ts',
    find: '} OR #ttl <= $',
    replace: '} OR #ttl = $',
    scenario: 'two merges under a key that was used a day ago',
  },
  {
    name: 'a repair does not note where an alert came from',
    file: 'packages/admin/check/check-merges.ts',
    find: 'moved_from: stay ? stay.incidentId : last?.move.from,',
    replace: 'moved_from: undefined,',
    scenario: 'two repairs of an alert that is not where its feed says',
  },
  {
    name: 'a move blanks the title of its alert',
    file: 'lib/operations/merge-alerts/assignment.ts',
    find: '      moved_from: from,\n',
    replace: "      moved_from: from,\n      title: '',\n",
    scenario: 'a large merge in three parts',
  },
];
