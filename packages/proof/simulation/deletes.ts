/** Scenarios of a work item that is deleted, restored and imported, and changed by records of the feed. */

import { keys } from '../../../lib/dynamodb/keys.ts';
import { ApiError } from '../../../lib/http/errors.ts';
import { createDeleteWorkItem } from '../../../lib/operations/delete-work-item/delete.ts';
import { auditAction } from '../../admin/accounts/audit-rows.ts';
import { readWorkItem, restoreWorkItem } from '../../admin/incidents/restore-work-item.ts';
import { callOf } from './environment.ts';
import type { Scenario } from './explore.ts';
import {
  ACCOUNT,
  accountLine,
  actor,
  inTurn,
  type Judgement,
  loadLines,
  type ModelledActor,
  rowsAfter,
  scenarioOf,
  writeRecord,
} from './scenario.ts';
import type { FinishedRun } from './state.ts';

const ITEM = 'w';
const LINE = { kind: 'work_item', account_id: ACCOUNT, work_item_id: ITEM, version: 1, title: 't' };
const LINES = [accountLine(ACCOUNT), LINE];

interface State {
  version: number;
  deleted: boolean;
  title: string;
}

/** @param requested the version that the deletion names */
const remove = (name: string, requested = 1) =>
  actor<State>(
    `delete ${name}`,
    async ({ deps }) => {
      await createDeleteWorkItem(deps)(callOf({ work_item_id: ITEM, version: requested }, ACCOUNT));
      return 'deleted';
    },
    (state) => {
      const { version, deleted } = state;
      if (deleted) return { state, answer: version === requested + 1 ? 'deleted' : 'ResourceNotFound' };
      if (version === requested)
        return { state: { ...state, version: requested + 1, deleted: true }, answer: 'deleted' };
      return { state, answer: 'InvalidParameter' };
    },
  );

/** Does what `admin work-item restore` does: reads the item and restores it if nothing has changed. */
const restore = (name: string) =>
  actor<State>(
    `restore ${name}`,
    async ({ deps: { table } }) => {
      const row = await readWorkItem(table, ACCOUNT, ITEM);
      if (row?.deleted_at_ms === undefined) return 'not deleted';
      const entry = { id: name, at_ms: 1, by: 'operator', command: 'work-item restore', result: 'done' } as const;
      return (await restoreWorkItem(table, ACCOUNT, row, [auditAction(ACCOUNT, entry)])) ? 'restored' : 'changed';
    },
    (state) => {
      const restored = { ...state, version: state.version + 1, deleted: false };
      return [
        state.deleted ? { state: restored, answer: 'restored' } : { state, answer: 'not deleted' },
        { state, answer: 'changed' },
      ];
    },
  );

const importing = actor<State>(
  'import',
  ({ deps }) => loadLines(deps.table, LINE),
  (state) => ({ state: state.deleted ? state : { ...state, version: 1, title: LINE.title }, answer: 'done' }),
);

/** A record of the feed: it never changes a deleted item, nor the version of a restored one. */
const record = (when: 'early' | 'late') =>
  actor<State>(
    `record ${when}`,
    ({ deps }) => writeRecord(deps.table, { ...LINE, title: when }, when),
    (state) => {
      const isLatest = when === 'late' || state.title !== 'late';
      return { state: isLatest && !state.deleted ? { ...state, title: when } : state, answer: 'done' };
    },
    { retried: true, mayApplyTwice: true },
  );

function stateOf({ items }: FinishedRun): State {
  const item = items.find(({ pk }) => pk === keys.workItem(ACCOUNT, ITEM).pk);
  return { version: Number(item?.version), deleted: item?.deleted_at_ms !== undefined, title: String(item?.title) };
}

const judgement: Judgement<State> = {
  initial: { version: 1, deleted: false, title: LINE.title },
  answerOf: ({ answer, error }) => (error instanceof ApiError ? error.code : String(error ?? answer)),
  stateOf,
  survivesLostReply: ({ name }) => !/^(import|record)/.test(name),
};

const scenario = (name: string, cost: Scenario['cost'], ...actors: ModelledActor<State>[]): Scenario =>
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
    inTurn('A', remove('A'), restore('A'), remove('after the restoration', 3)),
    record('late'),
  ),
  scenario('a record against an import and a deletion', 1, remove('A'), importing, record('late')),
];
