import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { collections, keys } from '../../../../lib/table/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { type Plan, startFaultProxy } from '../../../../test/support/fault-proxy.ts';
import { aroundCalls } from '../../../../test/support/faults.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import {
  connectAgain,
  handlersOver,
  newAppKey,
  newTable,
  putAll,
  stored,
  storedUnder,
  testDeps,
} from '../../../../test/support/service.ts';
import { sampleData } from '../../../local/sample.ts';
import { exportData } from '../../data/export.ts';
import { accountLine, itemLine, lines } from '../support/data-lines.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const admin = adminOf(table);
const folder = mkdtempSync(join(tmpdir(), 'admin-'));

const member = (account_id: number, member_id: number | bigint, name = 'Ada') => ({
  ...{ kind: 'member', account_id, member_id, name },
});
/** An account with this many members. */
const withMembers = (id: number, count: number) =>
  lines(accountLine(id), ...Array.from({ length: count }, (_, index) => member(id, index + 1)));

/** The sample data with one host in ten. */
const sampleLines = () =>
  [...sampleData(Date.now())].filter((line, index) => !line.includes('"kind":"host') || index % 10 === 0);

/** All rows of a table, without the audit, the times of imports and the values that differ from table to table. */
async function contents({ client, name }: Table): Promise<object[]> {
  const isCopied = ([attribute]: [string, unknown]) =>
    !/_order$|^(ttl|cursor_secret|gateway_key|revision|account_revision)$/.test(attribute);
  const pages = await Array.fromAsync(paginateScan({ client }, { TableName: name }));
  return pages
    .flatMap(({ Items = [] }) => Items)
    .filter(({ pk }) => !String(pk).endsWith('#AUDIT'))
    .map((row) => Object.fromEntries(Object.entries(row).filter(isCopied)))
    .sort((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1));
}

it('an import can be repeated, and an export of it imported elsewhere: the rows are the same', async () => {
  const [from, to] = [await newTable(), await newTable()];
  const [id, appKey, revoked] = [newAccountId(), newAppKey(), newAppKey()];
  const nowMs = Date.now();
  const expires_at = Math.floor(nowMs / 1000) + 900;
  const [incident_id, alert_id] = ['c'.repeat(24), 'd'.repeat(24)];
  const odd = { constructor: { name: 'Set' }, toString: 1, list: [{ constructor: null, hasOwnProperty: [true] }] };
  const deletion = { version: 2, deleted_at_ms: 1_790_000_000_000, deleted_by: 'k' };
  const added = lines(
    accountLine(id, { suspended: true }),
    { kind: 'app_key', account_id: id, app_key: appKey, created_at: 5, expires_at, note: 'ci' },
    { kind: 'app_key', account_id: id, app_key_hash: hashAppKey(revoked), last_digits: 'wxyz', revoked: true },
    member(id, 9007199254740993n),
    itemLine(id, { ...deletion, odd, constructor: 'top' }),
    { kind: 'incident', account_id: id, incident_id: incident_id.toUpperCase(), title: 'Down', owner_id: 7 },
    { kind: 'alert', account_id: id, alert_id: 'D'.repeat(24), title: 'Alert', incident_id: incident_id.toUpperCase() },
    { kind: 'host_status', account_id: id, host_id: 'h', health_at_ms: nowMs },
  );
  const [file, exported] = [join(folder, 'sample.ndjson'), join(folder, 'exported.ndjson')];
  writeFileSync(file, [...sampleLines(), added].join('\n'));
  const first = await adminOf(from)(['import', file], { now: () => nowMs });
  expect(first.exitCode).toBe(0);
  expect(first.out).toMatch(/^Imported 3 accounts, 6 app keys, 5 members, \d+ hosts.*\.\n$/);
  expect(first.err).toMatch(/^(?:Account \d+ .*\n){3}(?:import: .* left\n)*import: (\d+) of \1, \d+ a second\n$/);
  const before = await contents(from);
  const again = JSON.parse((await adminOf(from)(['import', file, '--json'], { now: () => nowMs })).out);
  expect(again.unchanged).toBe(Object.values<number>(again.lines).reduce((sum, count) => sum + count));
  expect(await contents(from)).toEqual(before);

  const account = await stored(from, keys.account(id));
  const copied = { account_id: id, permissions: ['monit'], suspended: true };
  expect(account).toMatchObject({ ...copied, app_keys: new Set([hashAppKey(appKey), hashAppKey(revoked)]) });
  const { cursor_secret, gateway_key } = account;
  const seconds = Math.floor(nowMs / 1000);
  for (const [key, row] of [
    [appKey, { last_digits: appKey.slice(-4), created_at: 5, expires_at, lifetime: expires_at - 5, note: 'ci' }],
    [revoked, { last_digits: 'wxyz', created_at: seconds, revoked_at: seconds }],
  ] as const) {
    const ofKey = { ...keys.appKey(hashAppKey(key)), ...copied, cursor_secret, gateway_key };
    expect(await stored(from, keys.appKey(hashAppKey(key)))).toEqual({
      ...ofKey,
      ...row,
      account_revision: expect.any(Number),
    });
  }
  const alert = { alert_id, title: 'Alert', incident_id };
  expect(await stored(from, keys.alert(id, alert_id))).toMatchObject(alert);
  const incident = { incident_id, title: 'Down', owner_id: 7 };
  expect(await stored(from, keys.incident(id, incident_id))).toMatchObject(incident);

  // What merges store in rows means nothing in another table.
  const moved = { moved_sequence: nowMs, moved_from: 'f'.repeat(24), previous_sequence: 6 };
  await putAll(from, [
    { ...keys.alert(id, alert_id), ...alert, ...moved },
    { ...keys.incident(id, incident_id), ...incident, ...{ last_change: { sequence: 7 } } },
  ]);
  expect(await adminOf(from)(['export', '--out', exported])).toMatchObject({ exitCode: 0, out: '' });
  const text = readFileSync(exported, 'utf8');
  expect(text).not.toContain(appKey);
  const items = text.split('\n').filter((line) => line.includes('hasOwnProperty'));
  expect(items.map((line) => JSON.parse(line))).toEqual([
    { ...itemLine(id, deletion), odd, constructor: 'top', at_ms: nowMs },
  ]);
  await adminOf(to)(['import', exported], { now: () => nowMs });
  expect(await contents(to)).toEqual(before);
  await adminOf(to)(`account unsuspend ${id}`);
  expect(await createAppKeys(testDeps(to)).find(appKey)).toMatchObject({ accountId: id });
  expect(await createAppKeys(testDeps(to)).find(revoked)).toBeUndefined();
});

describe('import', () => {
  it.each<[what: string, plan: (count: number, stop: () => void) => ReturnType<Plan>, expected: object]>([
    ['is throttled', (count) => (count % 3 > 0 ? 'throttle' : undefined), { exitCode: 0 }],
    [
      'is refused a row, which it names',
      (count) => (count === 20 ? 'invalid' : undefined),
      {
        exitCode: 1,
        err: expect.stringMatching(
          /\d+ of 51 lines were written\.\nstdin:\d+: member cannot be written: a planted fault\n$/,
        ),
      },
    ],
    [
      'is stopped',
      (count, stop) => {
        if (count === 20) stop();
        return count < 20 ? undefined : 'hang';
      },
      { exitCode: 130, err: expect.not.stringContaining('lines were written') },
    ],
  ])('that %s writes all rows, or does so when it is run again', async (_what, plan, expected) => {
    const id = newAccountId();
    const stdin = withMembers(id, 50);
    const proxy = await startFaultProxy(dynamodbEndpoint());
    const stop = new AbortController();
    let count = 0;
    proxy.plan(({ action, body }) => {
      if (action !== 'PutItem' || !body.includes('"member_id"')) return undefined;
      count += 1;
      return plan(count, () => stop.abort());
    });
    const result = await adminOf(table, proxy.endpoint)('import -', { stdin, signal: stop.signal });
    await proxy.close();
    expect(result).toMatchObject(expected);
    const written = async () => (await storedUnder(table, collections.members(id))).length;
    if (result.exitCode !== 0) {
      expect(await written()).toBeLessThan(50);
      expect((await admin('import -', { stdin })).exitCode).toBe(0);
    }
    expect(await written()).toBe(50);
  });

  it('shows a bar with rate and time left on a terminal', async () => {
    const file = join(folder, 'bar.ndjson');
    writeFileSync(file, withMembers(newAccountId(), 100));
    const { err } = await admin(['import', file], { terminal: true });
    expect(err).toMatch(/import .*100 % \| 101 of 101 \| \d+ a second \| \d+ s left/);
  });
});

it.each([
  ['import /nowhere/x', /^Cannot read \/nowhere\/x \(ENOENT\): check the path\.\n$/],
  ['export --out /nowhere/x', /^Cannot write \/nowhere\/x \(ENOENT\): check --out\.\n$/],
  ['export --account 8', /^Account 8 does not exist: .*\n$/],
  [`export --account 8 --out ${folder}/failed`, /^Account 8 does not exist: .*\n$/],
])('%s: reports in one line what is wrong, and leaves nothing behind', async (args, err) => {
  expect(await admin(args)).toEqual({ exitCode: 1, out: '', err: expect.stringMatching(err) });
  expect(readdirSync(folder).filter((name) => /failed|\.part$/.test(name))).toEqual([]);
});

describe('export', () => {
  it('contains only the named accounts', async () => {
    const [named, unnamed] = [newAccountId(), newAccountId()];
    await admin('import -', { stdin: withMembers(named, 1) + withMembers(unnamed, 1) });
    const { out } = await admin(`export --account ${named} --account ${named}`);
    const [account, exported, ...more] = out.split('\n');
    expect([JSON.parse(account ?? ''), more]).toEqual([accountLine(named), ['']]);
    expect(JSON.parse(exported ?? '')).toEqual({ ...member(named, 1), at_ms: expect.any(Number) });
  });

  it('replaces a file by one that only its owner can read, and follows no link that others put beside it', async () => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    const [file, victim] = [join(folder, 'private.ndjson'), join(folder, 'victim')];
    writeFileSync(file, 'older', { mode: 0o644 });
    writeFileSync(victim, 'theirs');
    symlinkSync(victim, `${file}.part`);
    expect((await admin(['export', '--account', String(id), '--out', file])).exitCode).toBe(0);
    expect([readFileSync(victim, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['theirs', lines(accountLine(id))]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    rmSync(`${file}.part`);
  });

  it.each([
    ['null', { exitCode: 0 }],
    ['full', { exitCode: 1, err: expect.stringMatching(/^Cannot write \S+full: the disk is full\..*\n$/) }],
  ])('is written directly to a device: /dev/%s', async (device, expected) => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    // A link, so that a bug in the export cannot replace a device.
    const link = join(folder, device);
    symlinkSync(`/dev/${device}`, link);
    expect(await admin(['export', '--account', String(id), '--out', link])).toMatchObject(expected);
    expect(statSync(link).isCharacterDevice()).toBe(true);
  });

  it.each(['#INCIDENTS', '#ALERTS#8'])(
    'contains a merge in full, with its title, that is committed before %s is read',
    async (partition) => {
      const tenant = await newAccount(table);
      const [from, to] = [await tenant.incident(), await tenant.incident()];
      const alert_ids = Array.from({ length: 150 }, (_, index) => index.toString(16).padStart(24, 'a'));
      const rowOf = (id: string) => ({
        ...keys.alert(tenant.account, id),
        alert_id: id,
        incident_id: from,
        title: 't',
      });
      await putAll(table, alert_ids.map(rowOf));
      const reading = connectAgain(table);
      let isMerged = false;
      aroundCalls(reading, async ({ input }, send) => {
        if (!isMerged && JSON.stringify(input).includes(partition)) {
          isMerged = true;
          await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, {
            alert_ids,
            incident_id: to,
            title: 'Merged',
          });
        }
        await send();
      });
      const exported = await Array.fromAsync(exportData(reading, [tenant.account]));
      const alerts = exported.filter(({ kind }) => kind === 'alert');
      expect(new Set(alerts.map(({ incident_id }) => incident_id))).toEqual(new Set([to]));
      expect(exported).toContainEqual(expect.objectContaining({ kind: 'incident', incident_id: to, title: 'Merged' }));
    },
  );
});
