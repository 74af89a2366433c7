/** Random commands of callers and operators, many of them interrupted, on the service and on a plain model of it. */
import fc from 'fast-check';
import { it } from 'vitest';
import { SEED } from '../support/chance.ts';
import { commands, compare, newModelAndService } from '../support/merge-commands.ts';

const SEQUENCES = { quick: 100, ci: 5_000, full: 100_000 }[process.env.FAULTS ?? 'quick'] ?? 0;
const MAX_COMMANDS = 10;

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
