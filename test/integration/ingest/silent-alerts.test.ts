/** Alerts that end by silence. `test/schedules/alert-keys` has the orders of records and ends, and their failures. */
import { describe, expect, it } from 'vitest';
import { createEndSilentAlerts } from '../../../lib/ingest/silent-alerts.ts';
import { isOpenAlert } from '../../../lib/model/alert.ts';
import { alertItemOf } from '../../../lib/operations/alert-item.ts';
import type { Settings } from '../../../lib/shared/settings.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { newTable, put, stored, testDeps } from '../../support/service.ts';

const NOW = 1_795_000_000_000;
const DAY_S = 24 * 3_600;
const END = { alert_status: 'Ok' };

interface Run {
  settings?: Partial<Settings>;
  ageS?: number;
}

/** An account alone in its table, with a key whose records say that it is silent after ten minutes. */
async function newWatched() {
  const table = await newTable();
  const { account } = await newAccount(table);
  let nowMs = NOW;
  const ingest = ingestOver(table, () => nowMs);
  const key = () => stored(table, keys.alertKey(account, 'k'));
  const line = { kind: 'alert', account_id: account, alert_key: 'k', title: 't', silent_after_s: 600 };
  return {
    ...{ table, account, key },
    alert: async () => stored(table, keys.alert(account, (await key()).alert_id)),
    isOpen: async () => isOpenAlert(await stored(table, keys.alert(account, (await key()).alert_id))),
    /** Sends a record so many seconds after the first. */
    async at(seconds: number, fields: object = {}) {
      nowMs = NOW + 1_000 * seconds;
      await ingest.send({ ...line, ...fields });
      expect(ingest.refused).toEqual([]);
    },
    /** Runs the function so many seconds after the first record. @returns what it logs */
    async run(seconds: number, { settings = {}, ageS = 0 }: Run = {}) {
      const deps = testDeps(table, { now: () => NOW + 1_000 * seconds, settings });
      await createEndSilentAlerts(deps, async () => ageS)({}, { getRemainingTimeInMillis: () => 60_000 });
      return deps.log.lines.map(({ message }) => message);
    },
  };
}

it('an open alert ends when no record of its key was sent for the time that the last one gave', async () => {
  const { account, at, run, alert, key, isOpen } = await newWatched();
  await at(0, { silent_after_s: 60, alert_status: 'Critical' });
  await at(50, { alert_status: 'Critical' });
  expect([await run(649), await isOpen()]).toEqual([[], true]);
  expect(await run(650, { settings: { endedAlertDays: 30 } })).toEqual(['alerts ended by silence']);
  const [ended_at_ms, ttl] = [NOW + 650_000, NOW / 1_000 + 650 + 30 * DAY_S];
  const index_partition = expect.stringContaining('#ENDED#Critical#');
  expect(await alert()).toMatchObject({ ended_at_ms, ttl, index_partition, event: 'AlertSilent', title: 't' });
  expect(await key()).toMatchObject({ is_open: false, ttl, row_order: (await alert()).key_order });
  const end_time = ended_at_ms / 1_000;
  const shown = { end_time, last_time: end_time, updated_at: end_time };
  expect(alertItemOf(account, await alert(), new Map())).toMatchObject(shown);
  expect(await run(9_999)).toEqual([]);
});

it('a record after that end opens another alert, or changes the ended one, and one from before it does nothing', async () => {
  const { at, run, alert, key } = await newWatched();
  await at(0);
  const { alert_id } = await key();
  await run(601);
  const ended = [await alert(), await key()];
  await at(700, { at_ms: NOW + 599_999 });
  await at(700, { at_ms: NOW + 599_999, ...END });
  expect([await alert(), await key()]).toEqual(ended);
  await at(700, { ...END, title: 'over' });
  const { event, ...row } = await alert();
  expect([event, row.title, row.ended_at_ms]).toEqual([undefined, 'over', NOW + 600_000]);
  await at(701);
  expect(await key()).toMatchObject({ is_open: true });
  expect((await key()).alert_id).not.toBe(alert_id);
});

it('an end whose time is before that of the last record comes right after this record', async () => {
  const { at, run, alert, key, isOpen } = await newWatched();
  await at(0, { at_ms: NOW + 200_000, silent_after_s: 60 });
  const { key_order: last } = await alert();
  await run(60);
  expect([(await alert()).ended_at_ms, await isOpen()]).toEqual([NOW + 200_000, false]);
  expect(Buffer.compare((await alert()).key_order, last)).toBe(1);
  await at(61, { at_ms: NOW + 200_001 });
  expect(await key()).toMatchObject({ is_open: true });
});

it('an alert whose last record gives no such time never ends by itself', async () => {
  const { at, run, isOpen } = await newWatched();
  await at(0);
  await at(1, { silent_after_s: undefined });
  await run(10_000_000);
  expect(await isOpen()).toBe(true);
});

describe('nothing ends', () => {
  it.each<[string, Run, string[]]>([
    ['in a standby', { settings: { standby: true } }, []],
    ['while writes are frozen', { settings: { writesFrozen: true } }, []],
    ['while a record waits for over 15 minutes', { ageS: 901 }, ['no alert ended by silence, since records wait']],
  ])('%s', async (_when, how, logged) => {
    const { at, run, isOpen } = await newWatched();
    await at(0);
    expect([await run(700, how), await isOpen()]).toEqual([logged, true]);
    await run(700, { ageS: 900 });
    expect(await isOpen()).toBe(false);
  });

  it.each([{ suspended: true }, { erased_at_ms: NOW }])('of an account with %j', async (fields) => {
    const { table, account, at, run, isOpen } = await newWatched();
    await at(0);
    const row = await stored(table, keys.account(account));
    await put(table, keys.account(account), { ...row, ...fields });
    expect([await run(700), await isOpen()]).toEqual([[], true]);
  });
});
