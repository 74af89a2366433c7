/**
 * Cases that `prove` does not try: reads that see only a part of a transaction, and how the number of calls grows with the number of
 * merges.
 */
import { TransactionCanceledException, TransactionInProgressException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { parseKey } from '../../../../lib/dynamodb/keys.ts';
import { createMergeAlerts } from '../../../../lib/operations/merge-alerts/merge.ts';
import { finishMerge } from '../../../../lib/operations/merge-alerts/move.ts';
import { readAlert, readFeed } from '../../../../lib/operations/merge-alerts/read-incidents.ts';
import { checkAccount } from '../../../admin/check/check.ts';
import { repair } from '../../../admin/check/repair.ts';
import { connectDouble, type Send } from '../../simulation/double-client.ts';
import { callOf, depsOver, id } from '../../simulation/environment.ts';
import { afterMerges, MERGE_LIMITS, TWO } from '../../simulation/merge-actors.ts';
import { accessesOf, type Request } from '../../simulation/requests.ts';
import { ACCOUNT } from '../../simulation/scenario.ts';
import { TableDouble } from '../../simulation/table-double.ts';
import type { Item } from '../../simulation/values.ts';

const ALERTS = [11, 12].map(id);

const canceled = (codes: readonly string[]) =>
  new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

/** A table with three incidents and three alerts, whose calls go through `around`. */
async function tableThrough(around: (request: Request, apply: (request: Request) => unknown) => unknown) {
  const [rows] = await afterMerges([])();
  const double = new TableDouble(rows);
  const apply = (request: Request) => double.apply(request);
  const send: Send = async (request) => around(request, apply);
  const table = connectDouble(send);
  const mergeInto = (alerts: string[], incident: string) =>
    createMergeAlerts(depsOver(table), MERGE_LIMITS)(callOf({ alert_ids: alerts, incident_id: incident }, ACCOUNT));
  return { table, double, mergeInto };
}

const kindOf = (row: Item) => parseKey(row as never)?.kind;
/** The reply to a query without the rows of a kind, as if it were read before these are written. */
const without = (kind: string, reply: unknown) => ({
  ...(reply as object),
  Items: (reply as { Items: Item[] }).Items.filter((row) => kindOf(row) !== kind),
});

it('commits a merge without a key once, even if a condition fails because of its own first attempt', async () => {
  let transactions = 0;
  const { table, mergeInto } = await tableThrough((request, apply) => {
    // The first attempt has not yet written the row that shows whether it is committed.
    if (request.name === 'GetCommand' && transactions === 2) return {};
    if (request.name !== 'TransactWriteCommand') return apply(request);
    transactions += 1;
    if (transactions === 1) {
      apply(request);
      throw new TransactionInProgressException({ message: 'in progress', $metadata: {} });
    }
    // The first attempt has written the merge order, and has yet to write the rest.
    if (transactions === 2) throw canceled(['TransactionConflict', 'ConditionalCheckFailed', 'TransactionConflict']);
    return apply(request);
  });
  await mergeInto([id(11)], TWO);
  expect(await readFeed(table, ACCOUNT, TWO)).toHaveLength(1);
});

it('does not finish a merge by a list of alerts of which it has read only a part', async () => {
  let phase: 'caller dies' | 'list read in part' | 'undisturbed' = 'caller dies';
  const { table, mergeInto } = await tableThrough((request, apply) => {
    const recordsMoves = accessesOf(request).some(({ pk = '', sk = '', write }) => {
      return write && parseKey({ pk, sk })?.kind === 'feedMoves';
    });
    if (phase === 'caller dies' && recordsMoves) throw new Error('the caller dies');
    const reply = apply(request);
    return phase === 'list read in part' && request.name === 'QueryCommand' ? without('feedAlerts', reply) : reply;
  });
  await mergeInto(ALERTS, TWO);
  const [item] = await readFeed(table, ACCOUNT, TWO);
  const entryId = { incidentId: TWO, sequence: item?.entry.sequence ?? 0 };
  phase = 'list read in part';
  await finishMerge(table, ACCOUNT, entryId).catch(() => undefined);
  phase = 'undisturbed';
  await finishMerge(table, ACCOUNT, entryId);
  expect((await readAlert(table, ACCOUNT, id(11)))?.incident_id).toBe(TWO);
});

it('does not delete an entry whose list is complete when the repair writes', async () => {
  let isListHidden = false;
  const { table, mergeInto } = await tableThrough((request, apply) => {
    const reply = apply(request);
    return isListHidden && request.name === 'QueryCommand' ? without('feedAlerts', reply) : reply;
  });
  await mergeInto(ALERTS, TWO);
  isListHidden = true;
  const findings = await checkAccount(table, ACCOUNT);
  isListHidden = false;
  await repair(table, findings);
  expect(await readFeed(table, ACCOUNT, TWO)).toHaveLength(1);
});

it('does not need exponentially more calls to finish more merges that share an unmovable alert', async () => {
  const callsFor = async (merges: number) => {
    let calls = 0;
    const { table, mergeInto } = await tableThrough((request, apply) => {
      calls += 1;
      const accesses = accessesOf(request);
      const isRefused = accesses.some(({ sk, write }) => write && sk === id(11));
      if (request.name === 'TransactWriteCommand' && isRefused) throw canceled(accesses.map(() => 'ValidationError'));
      return apply(request);
    });
    for (let index = 0; index < merges; index += 1) await mergeInto(ALERTS, TWO);
    const feed = await readFeed(table, ACCOUNT, TWO);
    calls = 0;
    await finishMerge(table, ACCOUNT, { incidentId: TWO, sequence: feed.at(-1)?.entry.sequence ?? 0 }).catch(() => {});
    return calls;
  };
  const [four, eight] = [await callsFor(4), await callsFor(8)];
  expect(eight).toBeLessThan(6 * four);
});
