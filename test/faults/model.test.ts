import fc from 'fast-check';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { SEED } from '../support/chance.ts';
import { type FaultyTable, faultyDouble, faultyTable } from '../support/faulty-table.ts';
import { commands, compare, newModelAndSystem } from '../support/merge-commands.ts';
import { newTable, PATIENCE } from '../support/service.ts';

/**
 * Number of random command sequences by backend: a table in memory, DynamoDB Local, and DynamoDB Local with a client that has been through
 * a storm (test/support/storm.ts).
 */
const RUNS: Readonly<Record<string, { double: number; local: number; afterStorm: number }>> = {
  quick: { double: 50, local: 2, afterStorm: 0 },
  ci: { double: 5_000, local: 100, afterStorm: 80 },
  full: { double: 100_000, local: 5_000, afterStorm: 5_000 },
};
const { double, local, afterStorm } = RUNS[process.env.FAULTS ?? 'quick'] ?? { double: 0, local: 0, afterStorm: 0 };
const LANES = 4;
const MAX_COMMANDS = 10;

const BACKENDS = [
  { runs: double, where: 'in memory', open: async () => faultyDouble() },
  { runs: local, where: 'in DynamoDB Local', open: async () => faultyTable(await newTable(), { timeouts: PATIENCE }) },
  {
    runs: afterStorm,
    where: 'in DynamoDB Local, after a storm',
    open: async () => faultyTable(await newTable(), { afterStorm: true, timeouts: PATIENCE }),
  },
].filter(({ runs }) => runs > 0);

describe.each(BACKENDS)(
  `$runs random command sequences on a table and on the reference model, $where (SEED=${SEED})`,
  ({ runs, open }) => {
    const lanes: FaultyTable[] = [];
    beforeAll(async () => {
      for (let lane = 0; lane < LANES; lane += 1) lanes.push(await open());
    });
    afterAll(() => Promise.all(lanes.map((faulty) => faulty.close())));

    it.concurrent.each(Array.from({ length: LANES }, (_, lane) => lane))(
      'any sequence of merges, interrupted merges, retries, undos, imports and deletions leaves the table in the state of the model (lane %i)',
      async (lane) => {
        const faulty = lanes[lane] as FaultyTable;
        await fc.assert(
          fc.asyncProperty(fc.commands(commands, { maxCommands: MAX_COMMANDS }), async (sequence) => {
            const { model, real } = await newModelAndSystem(faulty);
            await fc.asyncModelRun(async () => ({ model, real }), sequence);
            await compare(model, real);
          }),
          { numRuns: Math.ceil(runs / LANES), seed: SEED + lane, endOnFailure: process.env.SEED === undefined },
        );
      },
      20 * 60_000,
    );
  },
);
