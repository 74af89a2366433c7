/** Deleting and restoring a work item. */

import { isDeepStrictEqual } from 'node:util';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { ApiError } from '../../../lib/http/errors.ts';
import { recordOfEntity } from '../../../lib/ingest/records.ts';
import { rowsOf } from '../../../lib/ingest/write-records.ts';
import { createDeleteWorkItem } from '../../../lib/operations/delete-work-item/delete.ts';
import { auditAction } from '../../admin/accounts/audit-rows.ts';
import { readWorkItem, restoreWorkItem } from '../../admin/incidents/restore-work-item.ts';
import type { Scenario } from './explore.ts';
import { type Actor, actor, inTurn, type Judgement, loadLines, rowsAfter, scenarioOf } from './scenario.ts';
import { callOf, START_MS, type Surroundings } from './surroundings.ts';
import type { Outcome } from './transition-system.ts';

const ACCOUNT = 1;
const ITEM = 'w';
const LINE = { kind: 'work_item', account_id: ACCOUNT, work_item_id: ITEM, version: 1, title: 't' };
const LINES = [{ kind: 'account', account_id: ACCOUNT, name: 'Acme', permissions: [] }, LINE];

interface State {
  version: number;
  deleted: boolean;
  title: string;
}

const remove = (name: string) =>
  actor(`delete ${name}`, ({ deps }) =>
    createDeleteWorkItem(deps)(callOf({ work_item_id: ITEM, version: versionOf(name) }, ACCOUNT)),
  );
/** Of a deletion, by its name. */
const versionOf = (name: string) => (name.endsWith(AFTER_RESTORATION) ? 3 : 1);
const AFTER_RESTORATION = 'after the restoration';

/** Like `admin work-item restore`: reads the item, and writes it if nothing has changed. */
const restore = (name: string) =>
  actor(`restore ${name}`, async ({ deps: { table } }: Surroundings) => {
    const row = await readWorkItem(table, ACCOUNT, ITEM);
    if (row?.deleted_at_ms === undefined) return 'not deleted';
    const entry = { id: name, at_ms: 1, by: 'operator', command: 'work-item restore', result: 'done' } as const;
    return (await restoreWorkItem(table, ACCOUNT, row, [auditAction(ACCOUNT, entry)])) ? 'restored' : 'changed';
  });

const load = actor('import', async ({ deps: { table } }) => {
  await loadLines(table, LINE);
  return 'imported';
});

/** A record of the feed: it never changes a deleted item, nor the version of a restored one. */
const record = (when: 'early' | 'late'): Actor => ({
  ...actor(`record ${when}`, async ({ deps: { table } }) => {
    const at_ms = START_MS - (when === 'early' ? 2 : 1);
    for (const { write } of rowsOf([recordOfEntity({ ...LINE, title: when, at_ms } as never)])) await write(table);
    return 'done';
  }),
  again: true,
  repeats: true,
});

function apply({ version, deleted, title }: State, operation: string): { state: State; answer: string }[] {
  const same = { version, deleted, title };
  if (operation === 'import')
    return [{ state: deleted ? same : { version: 1, deleted, title: LINE.title }, answer: 'imported' }];
  if (operation.startsWith('record')) {
    const isLatest = operation === 'record late' || title !== 'late';
    return [
      { state: isLatest && !deleted ? { ...same, title: operation.replace('record ', '') } : same, answer: 'done' },
    ];
  }
  if (operation.startsWith('restore')) {
    const changed = { state: same, answer: 'changed' };
    return deleted
      ? [{ state: { ...same, version: version + 1, deleted: false }, answer: 'restored' }, changed]
      : [{ state: same, answer: 'not deleted' }, changed];
  }
  const asked = versionOf(operation);
  if (deleted) return [{ state: same, answer: version === asked + 1 ? 'deleted' : 'ResourceNotFound' }];
  if (version === asked) return [{ state: { ...same, version: asked + 1, deleted: true }, answer: 'deleted' }];
  return [{ state: same, answer: 'InvalidParameter' }];
}

function stateOf({ items }: Outcome): State {
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

const scenario = (name: string, ...actors: Actor[]): Scenario =>
  scenarioOf(name, async () => [await rowsAfter(LINES)], actors, judgement, {
    cost: name.includes('restor') ? 2 : 1,
  });

export const DELETES: readonly Scenario[] = [
  scenario(
    'three deletions of one version, one of them with a retry',
    inTurn('A', remove('A').script, remove("A'").script),
    remove('B'),
    remove('C'),
  ),
  scenario(
    'a deletion against a restoration',
    remove('A'),
    restore('B'),
    inTurn('C', remove('C').script, restore("C'").script),
  ),
  scenario('deletions against an import', remove('A'), remove('B'), load),
  scenario(
    'an import against a deletion and its restoration',
    inTurn('A', remove('A').script, restore('A').script),
    load,
  ),
  scenario('a deletion against records', remove('A'), record('early'), record('late')),
  scenario(
    'a record against a deletion, its restoration, and another deletion',
    inTurn('A', remove('A').script, restore('A').script, remove(AFTER_RESTORATION).script),
    record('late'),
  ),
  scenario('a record against an import and a deletion', remove('A'), load, record('late')),
];
