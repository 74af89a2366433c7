import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { LAST_VERSION, readWorkItem, restoreWorkItem } from '../lib/incidents/restore-work-item.ts';
import { planUndo, undoMerge } from '../lib/incidents/undo-merge.ts';
import type { Int64 } from '../lib/json.ts';
import { restoreRumResource } from '../lib/rum/restore-resource.ts';
import { requireAccount } from './accounts.ts';
import { accountId, feedEntry, objectId } from './arguments.ts';
import { dryRunOption, withHelp, withTarget } from './command.ts';
import { CliError, type Io, print, say } from './io.ts';
import { addMergeCommands } from './merges.ts';

/** The commands that take a caller's mistake back. */
export function addUndoCommands(program: Command, io: Io): void {
  const workItem = withHelp(
    program.command('work-item'),
    'Manage work items',
    'work-item restore wi-1001 --account 42',
  );
  withHelp(
    workItem
      .command('restore')
      .argument('<work-item-id>', 'its id')
      .requiredOption('--account <account>', 'the account', accountId)
      .option(...dryRunOption),
    'Undo the deletion of a work item',
    'work-item restore wi-1001 --account 42',
  ).action((id: string, { account }: { account: Int64 }, command: Command) =>
    withTarget(io, command, 'writes', async ({ target: { table }, dryRun, audit }) => {
      await requireAccount(table, account);
      const stored = await readWorkItem(table, account, id);
      if (!stored) throw new CliError(`Account ${account} has no work item ${id}.`);
      if (stored.deleted_at_ms === undefined)
        return print(io, `Work item ${id} is not deleted; it is at version ${stored.version}.`);
      if (dryRun) return say(io, `Work item ${id} would be restored.`);
      if (BigInt(stored.version) >= LAST_VERSION)
        throw new CliError(`Work item ${id} is at the highest version and cannot be restored.`);
      await audit.inTransaction(account, `work item ${id}`, async (also) => {
        if (!(await restoreWorkItem(table, account, stored, also)))
          throw new CliError(`Work item ${id} has just been changed: check it and try again.`);
      });
      print(io, `Work item ${id} restored; it is at version ${BigInt(stored.version) + 1n}.`);
    }),
  );

  const rum = withHelp(program.command('rum'), 'Manage RUM resources', 'rum restore --account 42');
  withHelp(
    rum
      .command('restore')
      .requiredOption('--account <account>', 'the account', accountId)
      .option(...dryRunOption),
    'Undo the deletion of the RUM resource',
    'rum restore --account 42',
  ).action(({ account }: { account: Int64 }, command: Command) =>
    withTarget(io, command, 'writes', async ({ target: { table }, dryRun, audit }) => {
      await requireAccount(table, account);
      if (dryRun) return say(io, `The RUM resource of account ${account} would be restored if it is deleted.`);
      await audit.inTransaction(account, 'RUM resource', async (also) => {
        if (!(await restoreRumResource(table, account, also)))
          throw new CliError(`Account ${account} has no deleted RUM resource.`);
      });
      print(io, `RUM resource of account ${account} restored.`);
    }),
  );

  const merge = withHelp(
    program.command('merge'),
    'Manage merges of alerts',
    'merge list --account 42 --since 1h',
    'merge undo 64f000000000000000000001 1795000000000 --account 42',
  );
  addMergeCommands(merge, io);
  withHelp(
    merge
      .command('undo')
      .argument('<incident-id>', 'the incident that alerts were merged into', objectId)
      .argument('<feed-entry>', 'the number that `show incident` shows for the merge', feedEntry)
      .requiredOption('--account <account>', 'the account', accountId)
      .option(...dryRunOption),
    'Undo a merge: move its alerts back to where they came from, unless they have moved since. Title and owner stay.',
    'merge undo 64f000000000000000000001 1795000000000 --account 42 --dry-run',
  ).action((incidentId: string, sequence: number, { account }: { account: Int64 }, command: Command) =>
    withTarget(io, command, 'writes', async ({ target: { table }, dryRun, audit }) => {
      await requireAccount(table, account);
      const request = { account, incidentId, sequence, by: `operator ${audit.by}`, requestId: randomUUID() };
      const deps = { table, now: io.now, newId: randomUUID };
      const what = `entry ${sequence} of incident ${incidentId}`;
      const {
        moves,
        left,
        undoneBy,
        sequence: own,
      } = dryRun ? await planUndo(deps, request) : await audit.around([account], what, () => undoMerge(deps, request));
      const stay = left.length > 0 ? `; ${left.length} have been moved since and stay` : '';
      if (undoneBy !== undefined) print(io, `Entry ${sequence} was already undone by entry ${undoneBy}.`);
      else if (moves.length === 0) print(io, `Nothing to undo${stay}.`);
      else if (dryRun) say(io, `${moves.length} of ${moves.length + left.length} alerts would be moved back${stay}.`);
      else print(io, `${moves.length} of ${moves.length + left.length} alerts moved back${stay}. Feed entry ${own}.`);
    }),
  );
}
