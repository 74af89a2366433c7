import { expect, it } from 'vitest';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { newTable } from '../../../../test/support/service.ts';
import { accountLine, lines } from '../support/data-lines.ts';
import { adminOf } from '../support/run-admin.ts';

const MINUTE_MS = 60_000;
const admin = adminOf(await newTable());

/** An account with hosts that stopped reporting two hours ago, each with the time of its inventory. */
async function newFleet(inventoryTimes: Record<string, number>) {
  const account = newAccountId();
  const hostLine = (host_id: string, at_ms?: number) => ({
    ...{ kind: 'host', account_id: account, host_id, ...inventory() },
    ...(at_ms !== undefined && { at_ms }),
  });
  const statusLine = (host_id: string) => {
    const received_at_ms = Date.now() - 120 * MINUTE_MS;
    return {
      kind: 'host_status',
      account_id: account,
      host_id,
      ...live({ received_at_ms, observed_at_ms: received_at_ms }),
      at_ms: received_at_ms,
    };
  };
  const write = (...entities: object[]) => admin('import -', { stdin: lines(...entities) });
  await write(
    accountLine(account),
    ...Object.entries(inventoryTimes).flatMap(([id, atMs]) => [hostLine(id, atMs), statusLine(id)]),
  );
  const list = async () =>
    JSON.parse((await admin(`host list --account ${account} --json`)).out).map(
      ({ host_id }: { host_id: string }) => host_id,
    );
  return { account, list, register: (id: string) => write(hostLine(id)) };
}

it.each([-60, 0, 60])(
  'host retire takes the time from DynamoDB: with a clock that is %d minutes off it retires a host, and a later record brings it back',
  async (minutes) => {
    const { account, list, register } = await newFleet({ h: Date.now() - MINUTE_MS });
    const now = () => Date.now() + minutes * MINUTE_MS;
    const retire = (staleFor: string) => admin(`host retire --account ${account} --stale-for ${staleFor}`, { now });
    // Two hours old, whatever the clock says.
    expect((await retire('150m')).out).toBe('There are no such hosts.\n');
    expect(await retire('90m')).toMatchObject({ exitCode: 0, out: '1 host retired.\n' });
    expect(await list()).toEqual([]);
    await register('h');
    expect(await list()).toEqual(['h']);
  },
);

it.each([
  ['', 'later stays: it has a later record.'],
  [' --json', '{"dry_run":false,"hosts":["later","old"],"not_retired":["later"]}'],
])('host retire%s names each host that is in the fleet afterwards, and fails', async (option, out) => {
  const { account, list } = await newFleet({ old: Date.now() - MINUTE_MS, later: Date.now() + 4 * MINUTE_MS });
  const result = await admin(`host retire --account ${account} --stale-for 1h${option}`);
  const detail = '1 of 2 hosts not retired.';
  expect(result).toEqual({ exitCode: 1, out: `${out}\n`, err: expect.stringContaining(detail) });
  expect(await list()).toEqual(['later']);
  const audit = JSON.parse((await admin(`audit --account ${account} --json`)).out);
  expect(audit.at(-1)).toMatchObject({ command: 'host retire', result: 'failed', detail });
});
