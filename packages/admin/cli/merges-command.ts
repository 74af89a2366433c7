import { withSignal } from '../../../lib/dynamodb/client.ts';
import { readAllPending, readPending } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { finishMerge, UnmovableAlertsError } from '../../../lib/operations/merge-alerts/move.ts';
import type { FeedItem } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { listMerges } from '../incidents/list.ts';
import { line } from '../text/printable.ts';
import { timeText } from '../text/time-text.ts';
import { accountId, duration, feedEntry, objectId } from './arguments.ts';
import type { AccountOptions, AdminCommand, Session, WritingSession } from './command.ts';
import { CliError, print, say } from './io.ts';
import { plainTable } from './output.ts';

/** Alert ids shown of a merge; the others are counted, except with `--json`. */
const MOST_IDS = 10;

export function addMergeCommands(merge: AdminCommand): void {
  merge
    .command('list')
    .explain(
      'List merges and undos in order, with the request_id of each call',
      'merge list --account 42 --since 1h',
      'merge list --account 42 --json',
    )
    .ofAccount()
    .option('--since <duration>', 'how far to look back, such as 1h (default: to the first merge)', duration)
    .shows(async ({ io, table, options: { account, since } }: Session<AccountOptions & { since?: number }>) => {
      const from = since === undefined ? 0 : io.now() - since;
      const merges = await listMerges(table, account, from);
      return {
        json: merges.map(jsonOf),
        ifEmpty: merges.length === 0 && `Account ${account} has no merges${from > 0 ? ' since then' : ''}.`,
        text: () => merges.map(textOf).join('\n'),
      };
    });

  merge
    .command('finish')
    .explain(
      'Finish pending merges: move the alerts that have not moved yet. Normally the service does this by itself.',
      'merge finish --account 42',
      'merge finish 64f000000000000000000001 1795000000000 --account 42',
      'merge finish --all',
    )
    .argument('[incident-id]', 'the incident that alerts are merged into (default: all that are pending)', objectId)
    .argument('[feed-entry]', 'the number that `merge list` shows for the merge', feedEntry)
    .option('--account <account>', 'the account', accountId)
    .option('--all', 'of all accounts')
    .writes(finish);
}

type FinishOptions = { account?: Int64; all?: boolean };

async function finish(
  { io, table, options: { account, all = false }, dryRun, audit }: WritingSession<FinishOptions>,
  incidentId?: string,
  sequence?: number,
): Promise<void> {
  if (all === (account !== undefined)) throw new CliError('Pass either --account or --all.');
  const pending = account === undefined ? await readAllPending(table) : await readPending(table, account);
  const chosen = pending.filter(
    ({ entryId }) =>
      entryId.incidentId === (incidentId ?? entryId.incidentId) && entryId.sequence === (sequence ?? entryId.sequence),
  );
  if (chosen.length === 0) return print(io, 'No merges are pending.');
  for (const { account, entryId } of chosen) {
    const of = all ? ` of account ${account}` : '';
    const name = `Merge ${entryId.sequence} into incident ${entryId.incidentId}${of}`;
    if (dryRun) {
      say(io, `${name} would be finished.`);
      continue;
    }
    try {
      await audit.around([account], `entry ${entryId.sequence} of incident ${entryId.incidentId}`, () =>
        finishMerge(withSignal(table, io.signal), account, entryId),
      );
    } catch (error) {
      if (!(error instanceof UnmovableAlertsError)) throw error;
      throw new CliError(
        `${name}: DynamoDB refuses to update the rows of alerts ${error.alertIds.join(', ')}: make them smaller than 398 KB, then run the same command again. All other alerts have been moved.`,
      );
    }
    print(io, `${name} finished.`);
  }
}

const jsonOf = ({ entry, alertIds, moves, stayed, pending }: FeedItem) => ({
  ...entry,
  pending,
  alert_ids: alertIds,
  moved: moves.length,
  stayed: stayed.length,
});

function textOf({ entry, alertIds, moves, stayed, pending }: FeedItem): string {
  const kind = entry.kind === 'merge' ? 'merge' : `undo of ${entry.undone_sequence}`;
  const shown = alertIds.slice(0, MOST_IDS).join(' ');
  const inAll = pending ? `, ${alertIds.length} in all` : '';
  const rows = [
    ['  incident', entry.incident_id],
    ['  request_id', entry.request_id],
    ['  by', entry.by],
    ['  alerts', `${moves.length} moved, ${stayed.length} already there${inAll}`],
    ['  alert ids', `${shown}${alertIds.length > MOST_IDS ? ` and ${alertIds.length - MOST_IDS} more` : ''}`],
    ...(entry.comment === undefined ? [] : [['  comment', entry.comment]]),
  ];
  const sequence = String(entry.sequence).padStart(15, '0');
  const head = line`${sequence}  ${timeText(entry.at_ms)}  ${kind}  ${pending ? 'pending' : 'done'}`;
  return `${head}\n${plainTable(rows)}`;
}
