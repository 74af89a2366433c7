/** The work item of a week, which records, calls and operators change. */
import { expect } from 'vitest';
import { timeOf } from '../../../lib/model/order.ts';
import type { WorkItemRow } from '../../../lib/model/work-item.ts';
import { type Key, parseKey } from '../../../lib/table/keys.ts';
import type { Commit } from '../schedule.ts';
import type { Model } from './model.ts';

type Row = Key & WorkItemRow;

/** @param model gets the row as it is, if a call or an operator has changed it: then the log decides, not the records alone */
export function expectTrueItems(commits: readonly Commit[], rows: Model, model: Model): void {
  let isByOthers = false;
  for (const { before, after } of commits.flatMap(({ changes }) => changes)) {
    const [was, is] = [before, after] as unknown as [Row | undefined, Row | undefined];
    if (!is || parseKey(is)?.kind !== 'workItem') continue;
    if (is.undone_deletion || is.deleted_request_id !== undefined) isByOthers = true;
    if (was?.deleted_at_ms !== undefined) expectTrueAfterDeletion(was, is);
    else if (was?.undone_deletion) expectTrueAfterRestore(was, is);
  }
  const row = rows.get('work_item w');
  if (isByOthers && row) model.set('work_item w', row);
}

function expectTrueAfterDeletion(was: Row, is: Row): void {
  const { version, deleted_at_ms: at_ms, deleted_request_id } = was;
  if (is.deleted_at_ms === undefined)
    expect(is.undone_deletion, 'only an operator restores an item').toMatchObject({ version, at_ms });
  else if (deleted_request_id !== undefined) expect(is, 'what a caller has deleted stays as it is').toEqual(was);
}

function expectTrueAfterRestore({ undone_deletion: undone, deletion_order }: Row, is: Row): void {
  if (is.deleted_at_ms === undefined) {
    expect(is.undone_deletion, 'what was undone').toEqual(undone);
    expect(Number(is.version)).toBeGreaterThan(Number(undone?.version));
  } else if (is.deleted_request_id === undefined) {
    const atMs = timeOf(is.deletion_order ?? new Uint8Array(6));
    expect(atMs, 'only a later record deletes a restored item').toBeGreaterThan(Number(undone?.at_ms));
    if (deletion_order) expect(atMs).toBeGreaterThan(timeOf(deletion_order));
  }
}
