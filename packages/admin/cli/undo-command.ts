import { randomUUID } from 'node:crypto';
import { planUndo, undoMerge } from '../incidents/undo-merge.ts';
import { countText } from '../text/printable.ts';
import { historyEntry, objectId } from './arguments.ts';
import type { AccountOptions, AdminCommand, WriteResult, WritingSession } from './command.ts';

export function addUndoCommand(merge: AdminCommand): void {
  merge
    .command('undo')
    .explain(
      'Undo a merge: move its alerts back to where they came from, unless they have moved since. Title and owner stay.',
      'merge undo 64f000000000000000000001 1795000000000 --account 42 --dry-run',
    )
    .argument('<incident-id>', 'the incident that alerts were merged into', objectId)
    .argument('<history-entry>', 'the number that `show incident` shows for the merge', historyEntry)
    .ofAccount()
    .writes(undo);
}

async function undo(
  session: WritingSession<AccountOptions>,
  incidentId: string,
  sequence: number,
): Promise<WriteResult> {
  const { io, table, target, dryRun, audit } = session;
  const { account } = session.options;
  const request = { account, incidentId, sequence, by: `operator ${audit.by}`, requestId: randomUUID() };
  const deps = { table, now: io.now, newId: randomUUID, settings: target };
  const what = `entry ${sequence} of incident ${incidentId}`;
  const result = dryRun
    ? await planUndo(deps, request)
    : await audit.around([account], what, () => undoMerge(deps, request));
  const { moves, left, originMissing, expired, undoneBy, sequence: undoSequence } = result;
  const moved = left.length > 0 ? `; ${left.length} have been moved since and stay` : '';
  const homeless =
    originMissing.length > 0 ? `; the former incidents of these are gone: ${originMissing.join(' ')}` : '';
  const stay = `${moved}${homeless}${expired > 0 ? `; ${countText(expired, 'alert')} expired` : ''}`;
  const countOfAll = `${moves.length} of ${moves.length + left.length + originMissing.length} alerts`;
  const json = {
    moves: moves.map(({ alertId, to }) => ({ alert_id: alertId, to: to ?? null })),
    left,
    ...(originMissing.length > 0 && { origin_missing: originMissing }),
    ...(expired > 0 && { expired }),
    ...(undoSequence !== undefined && { sequence: undoSequence }),
    ...(undoneBy !== undefined && { undone_by: undoneBy }),
  };
  if (undoneBy !== undefined) return { text: `Entry ${sequence} was already undone by entry ${undoneBy}.`, json };
  if (moves.length === 0) return { text: `Nothing to undo${stay}.`, json };
  if (dryRun) return { text: `${countOfAll} would be moved back${stay}.`, json };
  return { text: `${countOfAll} moved back${stay}. History entry ${undoSequence}.`, json };
}
