/**
 * A week of everything at once: sources, calls, operators, the functions behind the queues and the stream, on clocks that are wrong. Their
 * plan is in `week/plan.ts`, what they do in `week/processes.ts`, and what must be true afterwards in `week/judge.ts`.
 *
 * Who changes it makes sure that it still notices each of these, by 600 weeks:
 * - the rate limit without its nonce or its inner window, and a call refused although it was counted
 * - a second deletion with the id of the first, a deletion told twice, an update of an entry told, an alert's event told again by a later
 *   write, labels that make an event too large
 * - a restored item that an earlier record deletes, that forgets its deletion or what was undone
 * - an export without orders, without pending entries, or that import refuses for its times
 * - a key or a RUM record trusted by one clock only
 * - a merge that does not know pending ones, or is committed twice with one key or below the last sequence; a title ordered by sequence;
 *   origins not corrected, rows that take an earlier entry, an entry finished before its alerts are moved
 * - an undo that takes alerts of later entries, or does not read those committed meanwhile
 * - relay, publisher and ingest that tell no failure
 * - the row of an alert key, the mark of a retirement, or a merge's place not respected by records; the first record wins
 *
 * Rarer ones need the other schedules: rows written without the condition that they are as read, a merge that is sent again.
 */
import { onSchedules } from './schedule.ts';
import { expectTrueWeek } from './week/judge.ts';
import { weeks } from './week/plan.ts';
import { createProcess, TRUE_CLOCK } from './week/processes.ts';
import { createWorld } from './week/world.ts';

onSchedules(
  'what the service says of a week is true of its write log',
  weeks,
  async (week, schedule) => {
    const world = await createWorld(schedule, week);
    await schedule.run(
      week.processes.map(({ actions, fate, clock }) =>
        schedule.start(async (table) => {
          const perform = createProcess(world, table, clock);
          for (const action of actions) await perform(action);
        }, fate),
      ),
    );
    await expectTrueWeek(world, createProcess(world, schedule.table, TRUE_CLOCK));
  },
  { quick: 100 },
);
