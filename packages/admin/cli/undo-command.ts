import { randomUUID } from 'node:crypto';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { expression } from '../../../lib/dynamodb/expression.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { type Action, transact, updateAction } from '../../../lib/dynamodb/transact.ts';
import { MAX_DELETABLE_VERSION } from '../../../lib/ingest/kinds.ts';
import { type Int64, toInt64 } from '../../../lib/shared/json.ts';
import { readWorkItem, restoreWorkItem } from '../incidents/restore-work-item.ts';
import { planUndo, undoMerge } from '../incidents/undo-merge.ts';
import { feedEntry, objectId } from './arguments.ts';
import type { AccountOptions, AdminCommand, WritingSession, Written } from './command.ts';
import { CliError } from './io.ts';
import { addMergeCommands } from './merges-command.ts';

type UndoSession = WritingSession<AccountOptions>;

/** The commands that undo a caller's mistake, and the group `merge`. */
export function addUndoCommands(program: AdminCommand): void {
  program
    .command('work-item')
    .explain('Manage work items', 'work-item restore wi-1001 --account 42')
    .command('restore')
    .explain('Undo the deletion of a work item', 'work-item restore wi-1001 --account 42')
    .argument('<work-item-id>', 'its id')
    .ofAccount()
    .writes(restoreItem);

  program
    .command('rum')
    .explain('Manage RUM resources', 'rum restore --account 42')
    .command('restore')
    .explain('Undo the deletion of the RUM resource', 'rum restore --account 42')
    .ofAccount()
    .writes(async ({ table, options: { account }, dryRun, audit }: UndoSession) => {
      const json = { account_id: account };
      if (dryRun) return { text: `The RUM resource of account ${account} would be restored if it is deleted.`, json };
      await audit.inTransaction(account, 'RUM resource', async (also) => {
        if (!(await restoreRumResource(table, account, also)))
          throw new CliError(`Account ${account} has no deleted RUM resource.`);
      });
      return { text: `RUM resource of account ${account} restored.`, json };
    });

  const merge = program
    .command('merge')
    .explain(
      'Manage merges of alerts',
      'merge list --account 42 --since 1h',
      'merge undo 64f000000000000000000001 1795000000000 --account 42',
    );
  addMergeCommands(merge);
  merge
    .command('undo')
    .explain(
      'Undo a merge: move its alerts back to where they came from, unless they have moved since. Title and owner stay.',
      'merge undo 64f000000000000000000001 1795000000000 --account 42 --dry-run',
    )
    .argument('<incident-id>', 'the incident that alerts were merged into', objectId)
    .argument('<feed-entry>', 'the number that `show incident` shows for the merge', feedEntry)
    .ofAccount()
    .writes(undo);
}

async function restoreItem({ table, options: { account }, dryRun, audit }: UndoSession, id: string): Promise<Written> {
  const stored = await readWorkItem(table, account, id);
  if (!stored) throw new CliError(`Account ${account} has no work item ${id}.`);
  if (stored.deleted_at_ms === undefined)
    return {
      text: `Work item ${id} is not deleted; it is at version ${stored.version}.`,
      json: { work_item_id: id, version: stored.version, restored: false },
    };
  if (dryRun) return { text: `Work item ${id} would be restored.`, json: { work_item_id: id } };
  if (BigInt(stored.version) >= MAX_DELETABLE_VERSION)
    throw new CliError(`Work item ${id} is at the highest version and cannot be restored.`);
  const work_item_version = toInt64(String(BigInt(stored.version) + 1n));
  await audit.inTransaction(
    account,
    `work item ${id}`,
    async (also) => {
      if (!(await restoreWorkItem(table, account, stored, also)))
        throw new CliError(`Work item ${id} has just been changed: check it and try again.`);
    },
    { event: 'WorkItemRestored', event_detail: { work_item_id: id, work_item_version } },
  );
  return {
    text: `Work item ${id} restored; it is at version ${work_item_version}.`,
    json: { work_item_id: id, version: work_item_version, restored: true },
  };
}

async function undo(session: UndoSession, incidentId: string, sequence: number): Promise<Written> {
  const { io, table, dryRun, audit } = session;
  const { account } = session.options;
  const request = { account, incidentId, sequence, by: `operator ${audit.by}`, requestId: randomUUID() };
  const deps = { table, now: io.now, newId: randomUUID };
  const what = `entry ${sequence} of incident ${incidentId}`;
  const result = dryRun
    ? await planUndo(deps, request)
    : await audit.around([account], what, () => undoMerge(deps, request));
  const { moves, left, undoneBy, sequence: own } = result;
  const stay = left.length > 0 ? `; ${left.length} have been moved since and stay` : '';
  const some = `${moves.length} of ${moves.length + left.length} alerts`;
  const json = {
    moves: moves.map(({ alertId, to }) => ({ alert_id: alertId, to: to ?? null })),
    left,
    ...(own !== undefined && { sequence: own }),
    ...(undoneBy !== undefined && { undone_by: undoneBy }),
  };
  if (undoneBy !== undefined) return { text: `Entry ${sequence} was already undone by entry ${undoneBy}.`, json };
  if (moves.length === 0) return { text: `Nothing to undo${stay}.`, json };
  if (dryRun) return { text: `${some} would be moved back${stay}.`, json };
  return { text: `${some} moved back${stay}. Feed entry ${own}.`, json };
}

/**
 * Undoes the deletion of an account's RUM resource. Functions see it when their caches expire.
 * @param also written in the same transaction
 * @returns false if there is none, or it is not deleted
 */
async function restoreRumResource(table: Table, account: Int64, also: readonly Action[] = []): Promise<boolean> {
  const restored = updateAction(keys.rumResource(account), expression`REMOVE deleted`, expression`deleted = ${true}`);
  return (await transact(table, [restored, ...also])) === undefined;
}
