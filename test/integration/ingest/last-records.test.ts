/** When an account last sent a record of each kind, as `admin account show` tells it. */
import { expect, it } from 'vitest';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { keys, partitions } from '../../../lib/table/keys.ts';
import { connectionLost, hookedTable } from '../../support/faults.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { storedUnder } from '../../support/service.ts';

const NOW = 1_795_000_000_000;
const MINUTE_MS = 60_000;

/** An account, and the function ingest-records by a clock that the test sets. */
async function newSender() {
  const { table, hooked, hook } = hookedTable();
  const { account } = await newAccount(table);
  const world = { minutes: 0, notes: 0, fails: false };
  hook.around = (reply, { input }) => {
    if (!stringifyJson(input).includes('LAST_RECORDS')) return reply();
    world.notes += 1;
    if (world.fails) throw connectionLost();
    return reply();
  };
  const now = () => NOW + world.minutes * MINUTE_MS;
  const connect = () => ingestOver(hooked, now);
  const member = { kind: 'member', account_id: account, member_id: 1, name: 'Ada' };
  const host = { kind: 'host', account_id: account, host_id: 'h', retired: true };
  const minutesOf = async () => {
    const rows = await storedUnder(table, partitions.lastRecord(account));
    return Object.fromEntries(rows.map(({ sk, sent_at_ms }) => [sk, (sent_at_ms - NOW) / MINUTE_MS]));
  };
  return { ...{ table, account, world, connect, member, host, minutesOf }, ingest: connect() };
}

it('is stored for each kind, by when the record was sent, at most every five minutes, and never set back', async () => {
  const { ingest, connect, world, member, host, minutesOf } = await newSender();
  await ingest.send(member, host, { ...member, member_id: 2, at_ms: NOW - MINUTE_MS });
  expect([await minutesOf(), world.notes]).toEqual([{ member: 0, host: 0 }, 2]);
  for (const minutes of [1, 4.9, 5, 6]) {
    world.minutes = minutes;
    await ingest.send(member);
  }
  expect([await minutesOf(), world.notes]).toEqual([{ member: 5, host: 0 }, 3]);
  // Another instance of the function gets a message that has waited.
  world.minutes = 4;
  await connect().send(member);
  expect(await minutesOf()).toEqual({ member: 5, host: 0 });
});

it('is stored also for a record that is late, and not for one that is refused', async () => {
  const { ingest, member, host, minutesOf, account, table } = await newSender();
  await ingest.send({ ...host, enabled: 'yes' }, { ...member, account_id: account + 1 });
  expect(await minutesOf()).toEqual({});
  expect(await storedUnder(table, keys.lastRecord(account + 1, 'member').pk)).toEqual([]);
  await ingest.send(member);
  const again = { ...member, at_ms: NOW - MINUTE_MS };
  await ingest.send(again);
  expect([ingest.counts(), await minutesOf()]).toEqual([{ records: 2, late: 1, refused: 2, failed: 0 }, { member: 0 }]);
});

it('fails no record, and is tried again with the next one', async () => {
  const { ingest, world, member, minutesOf } = await newSender();
  world.fails = true;
  expect((await ingest.send(member)).batchItemFailures).toEqual([]);
  expect([ingest.counts().records, await minutesOf()]).toEqual([1, {}]);
  world.fails = false;
  await ingest.send(member);
  expect(await minutesOf()).toEqual({ member: 0 });
});
