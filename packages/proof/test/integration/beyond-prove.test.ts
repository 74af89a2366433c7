/** Cases too large for `prove`: transactions that are read in part, and numbers of calls that grow with the data. */
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
import { afterMerges, SIZES, TWO } from '../../simulation/merge-actors.ts';
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
    createMergeAlerts(depsOver(table), SIZES)(callOf({ alert_ids: alerts, incident_id: incident }, ACCOUNT));
  return { table, double, mergeInto };
}

const kindOf = (row: Item) => parseKey(row as never)?.kind;
const without = (kind: string, reply: unknown) => ({
  ...(reply as object),
  Items: (reply as { Items: Item[] }).Items.filter((row) => kindOf(row) !== kind),
});

it('commits a merge without a key once, even if a condition fails because of its own first attempt', async () => {
  let transactions = 0;
  const { table, mergeInto } = await tableThrough((request, apply) => {
    // The row that shows whether the first attempt is committed is the last that it writes.
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

it('does not finish a merge from a list that it has read in part', async () => {
  let phase: 'cut' | 'torn' | 'whole' = 'cut';
  const { table, mergeInto } = await tableThrough((request, apply) => {
    const moves = accessesOf(request).some(({ pk = '', sk = '', write }) => {
      return write && parseKey({ pk, sk })?.kind === 'feedMoves';
    });
    if (phase === 'cut' && moves) throw new Error('the caller dies');
    const reply = apply(request);
    return phase === 'torn' && request.name === 'QueryCommand' ? without('feedAlerts', reply) : reply;
  });
  await mergeInto(ALERTS, TWO);
  const [item] = await readFeed(table, ACCOUNT, TWO);
  const place = { incidentId: TWO, sequence: item?.entry.sequence ?? 0 };
  phase = 'torn';
  await finishMerge(table, ACCOUNT, place).catch(() => undefined);
  phase = 'whole';
  await finishMerge(table, ACCOUNT, place);
  expect((await readAlert(table, ACCOUNT, id(11)))?.incident_id).toBe(TWO);
});

it('does not delete an entry whose list is complete when the repair writes', async () => {
  let isTorn = false;
  const { table, mergeInto } = await tableThrough((request, apply) => {
    const reply = apply(request);
    return isTorn && request.name === 'QueryCommand' ? without('feedAlerts', reply) : reply;
  });
  await mergeInto(ALERTS, TWO);
  isTorn = true;
  const findings = await checkAccount(table, ACCOUNT);
  isTorn = false;
  await repair(table, findings);
  expect(await readFeed(table, ACCOUNT, TWO)).toHaveLength(1);
});

it('finishes merges that share an unmovable alert in a number of calls that does not grow exponentially', async () => {
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
