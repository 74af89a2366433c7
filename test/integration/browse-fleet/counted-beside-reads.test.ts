/** The first reads of a page run beside the count against the exact limit. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keys } from '../../../lib/table/keys.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { connectionLost } from '../../support/faults.ts';
import { hostId, inventory, newFleet } from '../../support/fleet.ts';
import { NOW, put } from '../../support/service.ts';
import { connectDouble, type Request } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';

/** A fleet of 200 hosts, whose calls to the table go through `around`. */
async function newObservedFleet({ used = 0 } = {}) {
  const double = new TableDouble();
  const table = connectDouble(async (request) => double.apply(request));
  const sent: string[] = [];
  let underWay = 0;
  let around = async (_request: Request): Promise<void> => undefined;
  const through = connectDouble(async (request) => {
    sent.push(request.name);
    underWay += 1;
    try {
      await around(request);
      return double.apply(request);
    } finally {
      underWay -= 1;
    }
  });
  const fleet = await newFleet(table, { through });
  await fleet.browse(); // reads the app key, and resets the count
  const count = keys.rateCount(fleet.account, 'browse-fleet', NOW / 60_000);
  await put(table, count, { total: used, nonces: new Set(['x']) });
  await fleet.putHosts(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [hostId(index), inventory()])));
  sent.splice(0);
  return {
    ...fleet,
    sent,
    underWay: () => underWay,
    onCall(action: typeof around) {
      around = action;
    },
  };
}

it.each([
  { reads: 'come before', readTurns: 0, countTurns: 20 },
  { reads: 'fail before', readTurns: 0, countTurns: 20, fault: connectionLost() },
])('of a call that is refused, only first reads are made, and dropped if they $reads the count', async (given) => {
  const { browse, sent, underWay, onCall, deps } = await newObservedFleet({ used: 30 });
  onCall(async ({ name }) => {
    const isCount = name === 'UpdateCommand';
    for (let turns = isCount ? given.countTurns : given.readTurns; turns > 0; turns -= 1) await nextTurn();
    if (given.fault && !isCount) throw given.fault;
  });
  const answer = await browse({ edge_clusters: ['none'] });
  expectEnvelope(answer, 429, 'RequestTooFrequently');
  expect(answer.headers).toMatchObject({ 'X-RateLimit-Remaining': '0' });
  expect([sent.length, underWay()]).toEqual([3, 0]);
  expect(deps.log.lines.filter(({ message }) => message === 'call failed')).toEqual([]);

  expectEnvelope(await browse(), 429, 'RequestTooFrequently');
  expect(sent.length, 'a call that follows a refusal').toBe(3);
});
