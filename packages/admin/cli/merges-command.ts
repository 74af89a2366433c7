import { Option } from 'commander';
import { EntryMissingError } from '../../../lib/operations/merge-alerts/entry.ts';
import { finishMerge } from '../../../lib/operations/merge-alerts/finish.ts';
import { listPendingEntryIds } from '../../../lib/operations/merge-alerts/log-head.ts';
import { AlertsTooLargeError } from '../../../lib/operations/merge-alerts/move.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { withSignal } from '../../../lib/table/client.ts';
import { effectsOf, listMerges, listMergesOfAll, splitMoves } from '../incidents/list.ts';
import { operatorMerge } from '../incidents/merge.ts';
import { readMergeProgress } from '../incidents/pending-merges.ts';
import { MERGE_FIELDS, MERGES, PENDING_MERGES, type ShownMerge } from '../tables/merges.ts';
import { countText, line } from '../text/printable.ts';
import { fieldsOf, tableOf } from '../text/table.ts';
import { accountId, duration, historyEntry, objectId, textOfLength } from './arguments.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session, WriteResult, WritingSession } from './command.ts';
import { sentenceOf } from './command-errors.ts';
import { PartialError, UsageError } from './io.ts';
import { addUndoCommand } from './undo-command.ts';

type MergeOptions = AccountOptions & { title?: string; comment?: string; owner?: Int64 };

export function addMergeCommands(program: AdminCommand): void {
  const merge = program
    .command('merge')
    .explain(
      'Manage merges of alerts',
      'merge list --account 42 --since 1h',
      'merge undo 64f000000000000000000001 1795000000000 --account 42',
    );
  merge
    .command('alerts')
    .explain(
      'Merge alerts into an incident, as POST /alert/merge does; --dry-run shows which would move, and from where',
      'merge alerts 64f000000000000000000001 64f0000000000000000000a1 64f0000000000000000000a2 --account 42 --dry-run',
    )
    .argument('<incident-id>', 'the incident that takes the alerts', objectId)
    .argument('<alert-id...>', 'the alerts', (id: string, previous: string[] = []) => [...previous, objectId(id)])
    .ofAccount()
    .option('--title <text>', 'new title of the incident', textOfLength(1, 512))
    .option('--owner <member>', 'member id of its new owner', accountId)
    .option('--comment <text>', 'comment for the history', textOfLength(1, 1024))
    .writes(mergeAlerts);

  merge
    .command('list')
    .explain(
      'List merges and undos in order, with the request_id of each call',
      'merge list --account 42 --since 1h',
      'merge list --account 42 --json',
      'merge list --since 1h',
      'merge list --pending',
    )
    .option('--account <account>', 'the account (default: all, with --since or --pending)', accountId)
    .addOption(new Option('--pending', 'only pending merges').conflicts('since'))
    .option('--since <duration>', 'how far to look back, such as 1h (default: to the first merge)', duration)
    .shows(list);

  merge
    .command('finish')
    .explain(
      'Finish pending merges: move the alerts that have not been moved yet. Normally the service does this itself.',
      'merge finish --account 42',
      'merge finish 64f000000000000000000001 1795000000000',
      'merge finish --all',
    )
    .argument('[incident-id]', 'the incident that alerts are merged into (default: all incidents)', objectId)
    .argument('[history-entry]', 'the number that `merge list` shows for the merge', historyEntry)
    .option('--account <account>', 'the account (default: the one that has the incident)', accountId)
    .option('--all', 'all pending merges of all accounts')
    .writes(finish);

  addUndoCommand(merge);
}

type ListSession = Session<Partial<AccountOptions> & { since?: number; pending?: boolean }>;

async function list({ io, table, options: { account, since, pending } }: ListSession): Promise<ReadResult> {
  if (pending) {
    const merges = await readMergeProgress(table, account);
    return { json: merges, show: tableOf(PENDING_MERGES, merges) };
  }
  if (account === undefined && since === undefined)
    throw new UsageError('Pass --account; or --since or --pending for the merges of all accounts.');
  const from = since === undefined ? 0 : io.now() - since;
  const merges = account === undefined ? await listMergesOfAll(table, from) : await listMerges(table, account, from);
  // Of all accounts a line each, since the fields of all would be long.
  const isShort = account === undefined || merges.length === 0;
  return {
    json: merges.map(jsonOf),
    show: isShort ? tableOf(MERGES, merges) : merges.map((merge) => fieldsOf(MERGE_FIELDS, merge)),
  };
}

type FinishOptions = { account?: Int64; all?: boolean };

async function mergeAlerts(
  session: WritingSession<MergeOptions>,
  incidentId: string,
  alertIds: string[],
): Promise<WriteResult> {
  const { io, table, target, options, dryRun, audit } = session;
  const { account, title, comment, owner } = options;
  const body = {
    incident_id: incidentId,
    alert_ids: alertIds,
    ...(title !== undefined && { title }),
    ...(comment !== undefined && { comment }),
    ...(owner !== undefined && { owner_id: owner }),
  };
  const { preview, merge } = operatorMerge(
    { table, now: io.now, regionDigit: target.regionDigit },
    { account, by: `operator ${audit.by}`, body },
    io.signal,
  );
  const { entry, moves: all } = await preview();
  const { moves, stayed } = splitMoves(all);
  const json = {
    incident_id: incidentId,
    large: entry.large ?? false,
    moves: moves.map(({ alertId, from }) => ({ alert_id: alertId, from: from ?? null })),
    stayed,
  };
  if (!dryRun) {
    await audit.around([account], `alerts into incident ${incidentId}`, merge);
    return { text: `${countText(moves.length + stayed.length, 'alert')} merged into incident ${incidentId}.`, json };
  }
  const effects = effectsOf({ entry, moves, stayed });
  return {
    text: [
      `${countText(moves.length, 'alert')} would be moved into incident ${incidentId}:`,
      ...effects.map(({ text: effect, incident = '' }) => line`  ${effect} ${incident}`.trimEnd()),
    ].join('\n'),
    lines: moves.map(({ alertId, from }) => line`${alertId} from ${from ?? 'no incident'}`),
    json,
  };
}

async function finish(
  { io, table, options: { account: accountOption, all = false }, dryRun, audit }: WritingSession<FinishOptions>,
  incidentId?: string,
  sequence?: number,
): Promise<WriteResult> {
  if (all && accountOption !== undefined) throw new UsageError('Pass either --account or --all.');
  if (!all && accountOption === undefined && incidentId === undefined)
    throw new UsageError('Name an incident, or pass --account or --all.');
  const pending = await listPendingEntryIds(table, accountOption);
  const chosen = pending.filter(
    ({ entryId }) =>
      entryId.incidentId === (incidentId ?? entryId.incidentId) && entryId.sequence === (sequence ?? entryId.sequence),
  );
  const merges = chosen.map(({ account, entryId }) => ({
    account_id: account,
    incident_id: entryId.incidentId,
    sequence: entryId.sequence,
  }));
  if (chosen.length === 0) return { text: 'No merges are pending.', json: { merges } };
  const lines: string[] = [];
  const not_finished: object[] = [];
  for (const [index, { account, entryId }] of chosen.entries()) {
    const ofAccount = accountOption === undefined ? ` of account ${account}` : '';
    const name = `Merge ${entryId.sequence} into incident ${entryId.incidentId}${ofAccount}`;
    if (dryRun) {
      lines.push(`${name} would be finished.`);
      continue;
    }
    try {
      await audit.around([account], `entry ${entryId.sequence} of incident ${entryId.incidentId}`, () =>
        finishMerge(withSignal(table, io.signal), account, entryId),
      );
      lines.push(`${name} finished.`);
    } catch (error) {
      const isStuck = error instanceof AlertsTooLargeError || error instanceof EntryMissingError;
      if (!isStuck || chosen.length === 1) throw error;
      const reason = sentenceOf(error);
      not_finished.push({ ...merges[index], reason });
      lines.push(line`${name} stays pending: ${reason}`);
    }
  }
  if (not_finished.length > 0) {
    const text = `${not_finished.length} of ${countText(chosen.length, 'merge')} not finished.`;
    throw new PartialError(text, { lines, json: { merges, not_finished } });
  }
  return { text: lines.join('\n'), json: { merges } };
}

const jsonOf = ({ account_id, entry, alertIds, moves, stayed, pending }: ShownMerge) => ({
  ...(account_id !== undefined && { account_id }),
  ...entry,
  pending,
  alert_ids: alertIds,
  moved: moves.length,
  stayed: stayed.length,
});
