import { MAX_DELETABLE_VERSION } from '../../../lib/model/work-item.ts';
import { toInt64 } from '../../../lib/shared/json.ts';
import { expression } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { transact, updateAction } from '../../../lib/table/write.ts';
import { readWorkItem, restoreWorkItem } from '../incidents/restore-work-item.ts';
import { workItemText } from './arguments.ts';
import type { AccountOptions, AdminCommand, WriteResult, WritingSession } from './command.ts';
import { CliError } from './io.ts';

type RestoreSession = WritingSession<AccountOptions>;

export function addRestoreCommands(program: AdminCommand): void {
  program
    .command('work-item')
    .explain('Manage work items', 'work-item restore wi-1001 --account 42')
    .command('restore')
    .explain('Undo the deletion of a work item', 'work-item restore wi-1001 --account 42')
    .argument('<work-item-id>', 'its id', workItemText)
    .ofAccount()
    .writes(restoreItem);

  program
    .command('rum')
    .explain('Manage RUM resources', 'rum restore --account 42')
    .command('restore')
    .explain('Undo the deletion of the RUM resource', 'rum restore --account 42')
    .ofAccount()
    .writes(async ({ table, options: { account }, dryRun, audit }: RestoreSession) => {
      const json = { account_id: account };
      if (dryRun) return { text: `The RUM resource of account ${account} would be restored if it is deleted.`, json };
      // Warm functions see the restored resource when their caches expire.
      const restored = updateAction(
        keys.rumResource(account),
        expression`REMOVE deleted`,
        expression`deleted = ${true}`,
      );
      await audit.inTransaction(account, 'RUM resource', async (extraActions) => {
        if ((await transact(table, [restored, ...extraActions])) !== undefined)
          throw new CliError(`Account ${account} has no deleted RUM resource.`);
      });
      return { text: `RUM resource of account ${account} restored.`, json };
    });
}

async function restoreItem(
  { table, options: { account }, dryRun, audit }: RestoreSession,
  id: string,
): Promise<WriteResult> {
  const stored = await readWorkItem(table, account, id);
  if (!stored) throw new CliError(`Account ${account} has no work item ${id}.`);
  if (stored.deleted_at_ms === undefined)
    return {
      text: `Work item ${id} is not deleted; it is at version ${stored.version}.`,
      json: { work_item_id: id, version: stored.version, restored: false },
    };
  if (BigInt(stored.version) >= MAX_DELETABLE_VERSION)
    throw new CliError(`Work item ${id} is at the highest version and cannot be restored.`);
  if (dryRun) return { text: `Work item ${id} would be restored.`, json: { work_item_id: id } };
  const work_item_version = toInt64(String(BigInt(stored.version) + 1n));
  await audit.inTransaction(
    account,
    `work item ${id}`,
    async (extraActions) => {
      if (!(await restoreWorkItem(table, account, stored, extraActions)))
        throw new CliError(`Work item ${id} has just been changed: check it and try again.`);
    },
    { event: 'WorkItemRestored', event_detail: { work_item_id: id, work_item_version } },
  );
  return {
    text: `Work item ${id} restored; it is at version ${work_item_version}.`,
    json: { work_item_id: id, version: work_item_version, restored: true },
  };
}
