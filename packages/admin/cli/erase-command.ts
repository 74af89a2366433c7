/** `admin account erase`: the end of an account's life. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Action } from '../../../lib/table/write.ts';
import { countRows, deleteRows, endErasure, markErased, SETTLE_MS } from '../accounts/erase-account.ts';
import { type RowCounts, rowsJson, rowsText, sumOf } from '../accounts/row-counts.ts';
import { countText, line, timeText } from '../text/printable.ts';
import { accountId } from './arguments.ts';
import { type AdminCommand, requireAccount, type WriteResult, type WritingSession } from './command.ts';
import { ask, CliError, type Io, say, UsageError } from './io.ts';
import { isOnThisMachine, type TargetOptions } from './target.ts';

type EraseSession = WritingSession<TargetOptions>;

export function addEraseCommand(group: AdminCommand): void {
  group
    .command('erase')
    .explain(
      'Erase an account for ever: its data, app keys, gateway key and refused records. It asks for the id unless --yes is given. After an interruption, the same command goes on.',
      'account erase 42 --dry-run',
    )
    .argument('<account>', 'its number', accountId)
    .writes(erase);
}

async function erase(session: EraseSession, id: Int64): Promise<WriteResult> {
  const { io, target, table, dryRun, audit } = session;
  const row = await requireAccount(table, id, true);
  if (target.endpoint === undefined && !(target.gatewayKeys && target.ingestQueues))
    throw new UsageError(
      'Pass --stack NAME instead of --table: the account also has a gateway key and refused records.',
    );
  const isMarked = row.erased_at_ms !== undefined;
  if (isMarked) say(io, stateText(row));
  if (dryRun) {
    const rows = await countRows(table, id);
    return {
      text: `${countText(sumOf(rows), 'row')} would be erased: ${rowsText(rows) || 'nothing but what stays'}.`,
      json: { account_id: id, rows: rowsJson(rows) },
    };
  }
  if (!isMarked) await confirmErasure(session, row);
  const { rows, refused, mixed, unknown } = await audit.inTransaction(
    id,
    '',
    (done, started) => eraseAll(session, row, done, started),
    row.erasure_ended_at_ms === undefined ? { event: 'AccountErased' } : undefined,
  );
  if (mixed > 0)
    say(
      io,
      `Left: ${countText(mixed, 'refused message')} of this account and others. Redrive them (docs/feed.md), which drops the records of this account. What is refused again can only be dropped as a whole.`,
    );
  if (unknown > 0)
    say(
      io,
      `Left: ${countText(unknown, 'refused message')} with text that names no account: see \`feed status\`, and drop what is of this account.`,
    );
  const text = `Account ${id} is erased: ${countText(sumOf(rows), 'row')} and ${countText(refused, 'refused message')}. What stays, and for how long: docs/operate.md.`;
  return {
    text,
    json: {
      account_id: id,
      rows: rowsJson(rows),
      refused_messages: refused,
      mixed_messages: mixed,
      unknown_messages: unknown,
    },
  };
}

export const stateText = ({ account_id, erased_at_ms = 0, erasure_ended_at_ms: endedMs }: AccountRow) =>
  endedMs === undefined
    ? `Account ${account_id} is being erased, since ${timeText(erased_at_ms)}: \`account erase ${account_id}\` goes on.`
    : `Account ${account_id} was erased, ${timeText(endedMs)}: \`account erase ${account_id}\` looks for what is left.`;

/** Erases the account, and says where it stands. */
async function eraseAll(
  { io, target, table }: EraseSession,
  { account_id: id }: AccountRow,
  done: readonly Action[],
  started: readonly Action[],
) {
  const rows = await markErased(table, id, io.now(), started);
  say(io, `Account ${id} is marked as erased: its calls and records are refused.`);
  await settle(io);
  await target.gatewayKeys?.remove(id);
  let [mixed, unknown] = [0, 0];
  let refused = await dropRefused();
  let deleted = 0;
  let saidAt = io.now();
  for (;;) {
    const last = await deleteRows(table, id, io.signal, (count) => {
      deleted += count;
      if (io.now() - saidAt < SAY_EVERY_MS) return;
      saidAt = io.now();
      say(io, `${deleted} rows are deleted.`);
    });
    for (const [kind, count] of Object.entries(last) as [keyof RowCounts, number][])
      rows[kind] = (rows[kind] ?? 0) + count;
    if (!last.appKey) break;
    await settle(io);
  }
  // Once more, since another reader may have held messages.
  refused += await dropRefused();
  await endErasure(table, id, io.now(), done);
  return { rows, refused, mixed, unknown };

  async function dropRefused(): Promise<number> {
    if (!target.ingestQueues) return 0;
    [mixed, unknown] = [0, 0];
    const { meant, failed } = await target.ingestQueues.clearRefused({
      action: 'drop',
      isMeant({ account, accounts }) {
        if (account === id) return true;
        if (accounts.has(id)) mixed += 1;
        else if (accounts.has(undefined)) unknown += 1;
        return false;
      },
      untilMs: Number.POSITIVE_INFINITY,
      around: (_accounts, _count, change) => change(),
      signal: io.signal,
    });
    if (failed > 0) throw new CliError(`SQS did not delete ${failed} refused records: run the same command again.`);
    return meant.reduce((sum, { count }) => sum + count, 0);
  }
}

const SAY_EVERY_MS = 5_000;
const STEP_MS = 1_000;

/** Waits, by the clock of the command, for what began before. */
async function settle(io: Io): Promise<void> {
  const { now, signal } = io;
  say(io, `Waiting ${SETTLE_MS / 1000} s for calls and records that came before.`);
  const untilMs = now() + SETTLE_MS;
  for (let leftMs = untilMs - now(); leftMs > 0; leftMs = untilMs - now())
    await sleep(Math.min(leftMs, STEP_MS), undefined, { signal });
}

/** Asks for the id of the account, also on this machine: nothing brings it back. */
async function confirmErasure(
  { io, options, target }: EraseSession,
  { account_id: id, name }: AccountRow,
): Promise<void> {
  if (options.yes) return;
  const where = isOnThisMachine(target) ? ' on this machine' : '';
  const answer = await ask(io, 'Type the id of the account to erase it: ', {
    before: line`This erases account ${id} (${name})${where}, with all its data, for ever.`,
    elsewhere: line`Pass --yes to erase account ${id} (${name})${where} without confirmation.`,
  });
  if (answer !== String(id)) throw new CliError('Nothing was erased.');
}
