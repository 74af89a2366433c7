/** Scenarios of a work item that is deleted, restored, imported and changed by records. */

import { isDeepStrictEqual } from 'node:util';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { ApiError } from '../../../lib/http/errors.ts';
import { createDeleteWorkItem } from '../../../lib/operations/delete-work-item/delete.ts';
import { auditAction } from '../../admin/accounts/audit-rows.ts';
import { readWorkItem, restoreWorkItem } from '../../admin/incidents/restore-work-item.ts';
import type { Actor } from './behavior.ts';
import type { Scenario } from './explore.ts';
import type { Outcome } from './linearize.ts';
import {
  ACCOUNT,
  accountLine,
  actor,
  inTurn,
  type Judgement,
  loadLines,
  rowsAfter,
  scenarioOf,
  writeRecord,
} from './scenario.ts';
import { callOf } from './surroundings.ts';
import type { FinishedRun } from './transition-system.ts';

const ITEM = 'w';
const LINE = { kind: 'work_item', account_id: ACCOUNT, work_item_id: ITEM, version: 1, title: 't' };
const LINES = [accountLine(ACCOUNT), LINE];

interface State {
  version: number;
  deleted: boolean;
  title: string;
}

const remove = (name: string) =>
  actor(`delete ${name}`, ({ deps }) =>
    createDeleteWorkItem(deps)(callOf({ work_item_id: ITEM, version: versionOf(name) }, ACCOUNT)),
  );
/** The version that a deletion asks for, by its name. */
const versionOf = (name: string) => (name.endsWith(AFTER_RESTORATION) ? 3 : 1);
const AFTER_RESTORATION = 'after the restoration';

/** Does what `admin work-item restore` does: reads the item and restores it if nothing has changed. */
const restore = (name: string) =>
  actor(`restore ${name}`, async ({ deps: { table } }) => {
    const row = await readWorkItem(table, ACCOUNT, ITEM);
    if (row?.deleted_at_ms === undefined) return 'not deleted';
    const entry = { id: name, at_ms: 1, by: 'operator', command: 'work-item restore', result: 'done' } as const;
    return (await restoreWorkItem(table, ACCOUNT, row, [auditAction(ACCOUNT, entry)])) ? 'restored' : 'changed';
  });

const importing = actor('import', async ({ deps: { table } }) => {
  await loadLines(table, LINE);
  return 'imported';
});

/** A record of the feed: it never changes a deleted item, nor the version of a restored one. */
const record = (when: 'early' | 'late') =>
  actor(
    `record ${when}`,
    async ({ deps: { table } }) => {
      await writeRecord(table, { ...LINE, title: when }, when);
      return 'done';
    },
    { retried: true, repeats: true },
  );

function apply(state: State, operation: string): Outcome<State>[] {
  const { version, deleted, title } = state;
  if (operation === 'import')
    return [{ state: deleted ? state : { version: 1, deleted, title: LINE.title }, answer: 'imported' }];
  if (operation.startsWith('record')) {
    const isLatest = operation === 'record late' || title !== 'late';
    const recorded = { ...state, title: operation.replace('record ', '') };
    return [{ state: isLatest && !deleted ? recorded : state, answer: 'done' }];
  }
  if (operation.startsWith('restore')) {
    const changed = { state, answer: 'changed' };
    return deleted
      ? [{ state: { ...state, version: version + 1, deleted: false }, answer: 'restored' }, changed]
      : [{ state, answer: 'not deleted' }, changed];
  }
  const asked = versionOf(operation);
  if (deleted) return [{ state, answer: version === asked + 1 ? 'deleted' : 'ResourceNotFound' }];
  if (version === asked) return [{ state: { ...state, version: asked + 1, deleted: true }, answer: 'deleted' }];
  return [{ state, answer: 'InvalidParameter' }];
}

function stateOf({ items }: FinishedRun): State {
  const item = items.find(({ pk }) => pk === keys.workItem(ACCOUNT, ITEM).pk);
  return { version: Number(item?.version), deleted: item?.deleted_at_ms !== undefined, title: String(item?.title) };
}

const judgement: Judgement<State> = {
  initial: { version: 1, deleted: false, title: LINE.title },
  apply,
  answerOf({ answer, error }) {
    if (error) return error instanceof ApiError ? error.code : String(error);
    return typeof answer === 'string' ? answer : 'deleted';
  },
  isFinal: (state, run) => isDeepStrictEqual(stateOf(run), state),
  isSettled: ({ name }) => !/^(import|record)/.test(name),
  describe: (run) => JSON.stringify(stateOf(run)),
};

const scenario = (name: string, cost: Scenario['cost'], ...actors: Actor[]): Scenario =>
  scenarioOf(name, async () => [await rowsAfter(LINES)], actors, judgement, { cost });

export const DELETES: readonly Scenario[] = [
  scenario(
    'three deletions of one version, one of them with a retry',
    1,
    inTurn('A', remove('A'), remove("A'")),
    remove('B'),
    remove('C'),
  ),
  scenario('a deletion against a restoration', 2, remove('A'), restore('B'), inTurn('C', remove('C'), restore("C'"))),
  scenario('deletions against an import', 1, remove('A'), remove('B'), importing),
  scenario('an import against a deletion and its restoration', 2, inTurn('A', remove('A'), restore('A')), importing),
  scenario('a deletion against records', 1, remove('A'), record('early'), record('late')),
  scenario(
    'a record against a deletion, its restoration, and another deletion',
    2,
    inTurn('A', remove('A'), restore('A'), remove(AFTER_RESTORATION)),
    record('late'),
  ),
  scenario('a record against an import and a deletion', 1, remove('A'), importing, record('late')),
];
