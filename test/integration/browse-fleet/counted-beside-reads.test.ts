/** The first reads of a page run beside the count against the exact limit. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keys } from '../../../lib/table/keys.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { connectionLost, hookedTable } from '../../support/faults.ts';
import { hostId, inventory, newFleet } from '../../support/fleet.ts';
import { NOW, put } from '../../support/service.ts';

it.each([
  { reads: 'come after', readTurns: 20, countTurns: 0, fail: false },
  { reads: 'fail before', readTurns: 0, countTurns: 20, fail: true },
])('of a call that is refused, only first reads are made, and dropped if they $reads the count', async (given) => {
  const { table, hooked, hook } = hookedTable();
  const { account, browse, putHosts, deps } = await newFleet(table, { through: hooked });
  await putHosts(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [hostId(index), inventory()])));
  await browse(); // reads the app key, and resets the count
  const usedUp = { total: 30, nonces: new Set(['x']) };
  await put(table, keys.rateCount(account, 'browse-fleet', NOW / 60_000), usedUp);
  hook.calls.length = 0;
  let underWay = 0;
  hook.around = async (reply, { name }) => {
    const isCount = name === 'UpdateCommand';
    underWay += 1;
    for (let turns = isCount ? given.countTurns : given.readTurns; turns > 0; turns -= 1) await nextTurn();
    underWay -= 1;
    if (given.fail && !isCount) throw connectionLost();
    return reply();
  };
  const answer = await browse({ edge_clusters: ['none'] });
  expectEnvelope(answer, 429, 'RequestTooFrequently');
  expect(answer.headers).toMatchObject({ 'X-RateLimit-Remaining': '0' });
  expect([hook.calls.length, underWay]).toEqual([3, 0]);
  expect(deps.log.lines.filter(({ message }) => message === 'call failed')).toEqual([]);

  expectEnvelope(await browse(), 429, 'RequestTooFrequently');
  expect(hook.calls.length, 'a call that follows a refusal').toBe(3);
});
