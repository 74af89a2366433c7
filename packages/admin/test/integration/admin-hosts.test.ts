import { expect, it } from 'vitest';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { newTable } from '../../../../test/support/service.ts';
import { accountLine, lines } from '../support/data-lines.ts';
import { adminOf } from '../support/run-admin.ts';

const MINUTE_MS = 60_000;
const admin = adminOf(await newTable());
const write = (...records: object[]) => admin('import -', { stdin: lines(...records) });

/** An account with hosts that stopped reporting two hours ago, each with the time of its inventory. */
async function newFleet(inventoryTimes: Record<string, number>) {
  const account_id = newAccountId();
  const hostLine = (host_id: string) => ({ kind: 'host', account_id, host_id, ...inventory() });
  const at_ms = Date.now() - 120 * MINUTE_MS;
  const report = live({ received_at_ms: at_ms, observed_at_ms: at_ms });
  await write(
    accountLine(account_id),
    ...Object.entries(inventoryTimes).flatMap(([host_id, inventoryMs]) => [
      { ...hostLine(host_id), at_ms: inventoryMs },
      { kind: 'host_status', account_id, host_id, ...report, at_ms },
    ]),
  );
  const account = `--account ${account_id}`;
  const list = async () =>
    JSON.parse((await admin(`host list ${account} --json`)).out).map(({ host_id }: { host_id: string }) => host_id);
  return { account, list, register: (id: string) => write(hostLine(id)) };
}

it.each([-60, 60])('host retire is right although its clock is %d minutes off', async (minutes) => {
  const { account, list, register } = await newFleet({ h: Date.now() - MINUTE_MS });
  const now = () => Date.now() + minutes * MINUTE_MS;
  const retire = (staleFor: string) => admin(`host retire ${account} --stale-for ${staleFor}`, { now });
  expect((await retire('150m')).out).toBe('There are no such hosts.\n');
  expect(await retire('90m')).toMatchObject({ exitCode: 0, out: '1 host retired.\n' });
  expect(await list()).toEqual([]);
  await register('h');
  expect(await list()).toEqual(['h']);
});

it('host retire names each host that is in the fleet afterwards, and fails', async () => {
  const { account, list } = await newFleet({ old: Date.now() - MINUTE_MS, later: Date.now() + 4 * MINUTE_MS });
  const dry = await admin(`host retire ${account} --stale-for 1h --dry-run`);
  expect(dry.out).toMatch(/^later last reported \d.*UTC\nold last reported .*\n$/);
  const result = await admin(`host retire ${account} --stale-for 1h`);
  const detail = '1 of 2 hosts not retired.';
  const out = 'later stays: it has a later record.\n';
  expect(result).toEqual({ exitCode: 1, out, err: expect.stringContaining(detail) });
  expect(await list()).toEqual(['later']);
  const audit = JSON.parse((await admin(`audit ${account} --json`)).out);
  expect(audit.at(-1)).toMatchObject({ command: 'host retire', result: 'failed', detail });
});
