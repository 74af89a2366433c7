import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { undoMerge } from '../../packages/admin/incidents/undo-merge.ts';
import { expectEnvelope } from '../support/answers.ts';
import { SEED } from '../support/chance.ts';
import { type FaultyTable, faultyDouble, faultyTable } from '../support/faulty-table.ts';
import { expectTrueFeeds } from '../support/incidents.ts';
import {
  callMerge,
  entriesOf,
  finish,
  mergeArguments,
  newModelAndSystem,
  serviceOn,
  TRANSACTION_ITEMS,
} from '../support/merge-commands.ts';
import { newTable, PATIENCE, testDeps } from '../support/service.ts';

/** Number of races by table: in memory, and in DynamoDB Local. */
const RUNS: Readonly<Record<string, { inMemory: number; local: number }>> = {
  quick: { inMemory: 25, local: 2 },
  ci: { inMemory: 1_500, local: 40 },
  full: { inMemory: 50_000, local: 2_000 },
};
const { inMemory, local } = RUNS[process.env.FAULTS ?? 'quick'] ?? { inMemory: 0, local: 0 };

const FORMS = [
  { runs: inMemory, where: 'in memory', open: async () => faultyDouble() },
  { runs: local, where: 'in DynamoDB Local', open: async () => faultyTable(await newTable(), { timeouts: PATIENCE }) },
];

describe.each(FORMS)(
  `$runs races $where, in orders that fast-check's scheduler chooses (SEED=${SEED})`,
  ({ runs, open }) => {
    let faulty: FaultyTable;
    beforeAll(async () => {
      faulty = await open();
    });
    afterAll(() => faulty.close());

    /** A client whose calls are sent in the order that the scheduler chooses. */
    function scheduled(scheduler: fc.Scheduler): Table {
      const own = faulty.connect();
      const send = own.client.send.bind(own.client) as (command: object, options?: object) => Promise<unknown>;
      Object.assign(own.client, {
        async send(command: object, options?: object) {
          await scheduler.schedule(Promise.resolve(), command.constructor.name);
          return send(command, options);
        },
      });
      return own;
    }

    it(
      'leave each alert where its feeds, read in order, put it',
      async () => {
        let done = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.scheduler(),
            fc.array(mergeArguments, { minLength: 2, maxLength: 3 }),
            fc.boolean(),
            async (scheduler, merges, withUndo) => {
              const { real } = await newModelAndSystem(faulty);
              const first = { groups: [0, 1, 2], into: 0, title: undefined };
              expectEnvelope(await callMerge(real, first, 'first'), 200);
              const [entry] = await entriesOf(real, 0);
              const own = scheduled(scheduler);
              const racer = { ...real, ...serviceOn(own) };
              const racing = merges.map((merge, index) => callMerge(racer, merge, `race ${index}`));
              const { account } = real.tenant;
              const request = {
                account,
                incidentId: real.incidents[0] as string,
                sequence: entry.sequence,
                by: 'o',
                requestId: 'r',
              };
              const undoing = withUndo
                ? [undoMerge(testDeps(own), request, { transactionItems: TRANSACTION_ITEMS })]
                : [];
              const finishing = finish(racer);
              const answers = await scheduler.waitFor(Promise.all(racing));
              await scheduler.waitFor(Promise.all([...undoing, finishing]));
              await finish(real);
              // A merge that keeps losing to others until its time is over answers 503; nothing else may fail.
              for (const answer of answers)
                if (answer.status !== 200) expectEnvelope(answer, 503, 'ServiceUnavailable');
              done += answers.filter(({ status }) => status === 200).length;
              await expectTrueFeeds(real.tenant, real.incidents, real.groups.flat());
            },
          ),
          { numRuns: runs, seed: SEED, endOnFailure: process.env.SEED === undefined },
        );
        expect(done).toBeGreaterThan(runs / 2);
      },
      20 * 60_000,
    );
  },
);
