/** Random commands of callers and operators, many of them interrupted, on the service and on a plain model of it. */
import fc from 'fast-check';
import { it } from 'vitest';
import { SEED } from '../support/chance.ts';
import { newFaultyTable } from '../support/faulty-table.ts';
import { finishFeed } from '../support/finish.ts';
import {
  commands,
  compare,
  depsOn,
  newModelAndTenant,
  type Real,
  TRANSACTION_ITEMS,
} from '../support/merge-commands.ts';
import { callAlone, handlersOver } from '../support/service.ts';

const SEQUENCES = { quick: 100, ci: 5_000, full: 100_000 }[process.env.FAULTS ?? 'quick'] ?? 0;
const MAX_COMMANDS = 10;
const MERGE_LIMITS = { transactionItems: TRANSACTION_ITEMS };

/** The service in this process, on a table in memory with a new account, and the model of it. */
async function newModelAndService() {
  const { table, plan, connect } = newFaultyTable();
  const { model, ...account } = await newModelAndTenant(table);
  const through = connect();
  const real: Real = {
    ...account,
    table,
    through,
    plan,
    call: (operation, options) => callAlone(handlersOver(depsOn(through), MERGE_LIMITS), operation, options),
    finish: (feed) => finishFeed(through, feed, MERGE_LIMITS),
  };
  return { model, real };
}

it(
  `any sequence of merges, retries, undos, imports and deletions leaves the rows that the model expects, whatever interrupts merges and undos (${SEQUENCES} sequences in memory, SEED=${SEED})`,
  () =>
    fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: MAX_COMMANDS }), async (sequence) => {
        const { model, real } = await newModelAndService();
        await fc.asyncModelRun(async () => ({ model, real }), sequence);
        await compare(model, real);
      }),
      { numRuns: SEQUENCES, seed: SEED, endOnFailure: process.env.SEED === undefined },
    ),
  20 * 60_000,
);
