/**
 * A replica whose region has failed, or a table restored to a moment of many writes, has of each row any of its last versions. Whatever came
 * and whatever is lost, a repair leaves each entry that is there whole, and each absent one without effect; no key is let in that the newest
 * row forbids; nothing is left that is wrong but what waits for a record; and the same holds after five more steps, with another repair only of
 * accounts, whose commands may have died, or if something waited.
 */

import { expect, it, vi } from 'vitest';
import { keys, ofKind } from '../../lib/table/keys.ts';
import { rowName } from '../../lib/table/read.ts';
import { changeAccount } from '../../packages/admin/accounts/accounts.ts';
import { checkTable } from '../../packages/admin/check/check.ts';
import { repairAccounts, repairMerges } from '../../packages/admin/check/repair-table.ts';
import { mergesOf } from '../integration/merge-alerts/merging.ts';
import { SEED, seededRandom } from '../support/chance.ts';
import { ACCESS, createRandom, type Random, World } from './torn/history.ts';
import { entriesIn, notAwaited, placesBy, problemsOf, sequencesIn, wronglyLetIn } from './torn/judge.ts';

const CUTS = Number(process.env.CUTS ?? { ci: 300, full: 100_000 }[process.env.FAULTS ?? ''] ?? 200);
const CUTS_OF_EACH = 20;
/** Partitions of rows that no repair changes; those of hosts only where one was retired. */
const OTHERS = /#(MEMBERS|HOSTS|HOST_STATUSES|RETIREMENTS|RUM|WORK_ITEMS)\n/;
const OF_HOSTS = /#(HOSTS|HOST_STATUSES)\n/;

async function problemsAfter(history: World, random: Random): Promise<string[]> {
  const problems = new Set<string>();
  const { rows, feeds } = history.cut(random);
  const world = history.with(rows, feeds);
  const torn = world.items;
  /** The incident that the feed had named when an alert's row was written, or by now if its row had not arrived. */
  const saidOf = (alertId: string) => {
    const name = rowName(keys.alert(world.tenant.account, alertId));
    return (rows.has(name) ? feeds : world.feeds).get(name)?.incident_id?.value as string | undefined;
  };
  const judge = async (when: string, entries: ReturnType<typeof entriesIn>, places: ReturnType<typeof placesBy>) => {
    for (const problem of problemsOf(world, entries, places)) problems.add(`${when}: ${problem}`);
    const left = (await Array.fromAsync(checkTable(world.table, world.now + 3_600_000))).flat();
    for (const { kind } of notAwaited(world, left)) problems.add(`${when}: left ${kind}`);
  };

  await repairAccounts(world.table);
  const { left } = await repairMerges(world.table, world.now);
  const committed = entriesIn(history.items);
  const entries = entriesIn(torn);
  const places = placesBy(entries, committed, saidOf);
  if (entriesIn(world.items).length !== entries.length) problems.add('entries are gone');
  await judge('repaired', entries, places);
  for await (const problem of wronglyLetIn(world, torn)) problems.add(problem);
  const hasRetired = ofKind('retirement', torn).length > 0;
  for (const [name, row] of rows)
    if (OTHERS.test(name) && !(hasRetired && OF_HOSTS.test(name)) && world.rows.get(name) !== row)
      problems.add('a row of another kind is changed');

  const highest = Math.max(0, ...sequencesIn(torn));
  for (let step = 0; step < 5; step += 1) await world.step(random);
  await mergesOf(world.table, world.tenant, []).finish();
  // Processes of the steps may have died, and what a finding waited for may have come.
  await repairAccounts(world.table);
  if (left.length > 0) await repairMerges(world.table, world.now);
  const later = entriesIn(world.items);
  const known = new Set(entries.map(({ entry }) => entry.sequence));
  for (const { entry } of later)
    if (!known.has(entry.sequence) && entry.sequence <= highest) problems.add('a lost sequence is used again');
  await judge('after five steps', later, placesBy(later, committed, saidOf));
  const isSuspended = await changeAccount(world.table, ACCESS, () => ({ suspended: true })).catch(() => undefined);
  if (isSuspended) for await (const problem of wronglyLetIn(world, world.items)) problems.add(`suspended: ${problem}`);
  return [...problems];
}

it(`a repair of any cut leaves whole what is there and no trace of what is not (${CUTS} cuts, SEED=${SEED})`, {
  timeout: 4 * 3_600_000,
}, async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0); // no waits
  /** Where each problem was found first. */
  const found: Record<string, string> = {};
  for (let cuts = 0, seed = SEED; cuts < CUTS; seed += 1) {
    const random = createRandom(seededRandom(seed));
    const history = await World.create();
    for (let steps = 3 + random.below(10); steps > 0; steps -= 1) await history.step(random);
    for (let cut = 0; cut < CUTS_OF_EACH; cut += 1, cuts += 1)
      for (const problem of await problemsAfter(history, createRandom(seededRandom(seed * CUTS_OF_EACH + cut))))
        found[problem] ??= `seed ${seed}, cut ${cut}`;
  }
  expect(found).toEqual({});
});
