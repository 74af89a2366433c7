import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { keys, partitions } from '../../../../lib/table/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { startFaultProxy } from '../../../../test/support/fault-proxy.ts';
import { intercepted } from '../../../../test/support/faults.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import {
  createHandlers,
  newAppKey,
  newTable,
  putAll,
  rowsIn,
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

const member = (account_id: number, member_id: number | bigint) => ({
  ...{ kind: 'member', account_id, member_id, name: 'Ada' },
});

/** The sample data with one host in a hundred. */
const sampleLines = () =>
  [...sampleData(Date.now())].filter((line, index) => !line.includes('"kind":"host') || index % 100 === 0);

/** All rows of a table, without the audit, the times of imports and the values that differ from table to table. */
async function contents(table: Table): Promise<object[]> {
  const isCopied = ([attribute]: [string, unknown]) =>
    !/_order$|^(event|ttl|cursor_secret|gateway_key|revision|account_revision)$/.test(attribute);
  return (await rowsIn(table))
    .filter(({ pk }) => !pk.endsWith('#AUDIT'))
    .map((row) => Object.fromEntries(Object.entries(row).filter(isCopied)))
    .sort((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1));
}

it('an import can be repeated, and an export of it imported elsewhere: the rows are the same', async () => {
  const [from, to] = [await newTable(), await newTable()];
  const [id, appKey, revoked] = [newAccountId(), newAppKey(), newAppKey()];
  const nowMs = Date.now();
  const seconds = Math.floor(nowMs / 1000);
  const expires_at = seconds + 900;
  const [incident_id, alert_id] = ['c'.repeat(24), 'd'.repeat(24)];
  const odd = { constructor: { name: 'Set' }, toString: 1, list: [{ constructor: null, hasOwnProperty: [true] }] };
  const deletion = { version: 2, deleted_at_ms: 1_790_000_000_000, deleted_by: 'k' };
  const keyLine = { kind: 'app_key', account_id: id, app_key: appKey, created_at: 5, expires_at, note: 'ci' };
  const added = lines(
    accountLine(id, { suspended: true }),
    ...[keyLine, keyLine],
    { kind: 'app_key', account_id: id, app_key_hash: hashAppKey(revoked), last_digits: 'wxyz', revoked: true },
    member(id, 9007199254740993n),
    itemLine(id, { ...deletion, odd, constructor: 'top' }),
    { kind: 'incident', account_id: id, incident_id: incident_id.toUpperCase(), title: 'Down', owner_id: 7 },
    { kind: 'alert', account_id: id, alert_id: 'D'.repeat(24), title: 'Alert', incident_id: incident_id.toUpperCase() },
    { kind: 'host_status', account_id: id, host_id: 'h', health_at_ms: nowMs },
    // Two keys without an open alert, the latter with one that has ended before, and one with an open alert.
    ...['Ok', 'Critical Ok', 'Critical Ok Info', 'Warning'].flatMap((statuses) =>
      statuses.split(' ').map((alert_status, index) => ({
        ...{
          kind: 'alert',
          account_id: id,
          alert_key: `disk ${statuses}`,
          title: `${index}`,
          alert_status,
          incident_id,
        },
        ...{ labels: { constructor: 'x' }, description: 'd', source_url: 'http://a/', at_ms: nowMs - 9 + index },
      })),
    ),
  );
  const [file, exported] = [join(folder, 'sample.ndjson'), join(folder, 'exported.ndjson')];
  writeFileSync(file, [...sampleLines(), added].join('\n'));
  const first = await adminOf(from)(['import', file], { now: () => nowMs });
  expect(first.exitCode).toBe(0);
  expect(first.out).toMatch(
    /^Imported 3 accounts, 6 app keys, 5 members, \d+ hosts.*; \d+ lines? changed nothing, .*\.\n$/,
  );
  expect(first.err).toMatch(/^(?:Account \d+ .*\n){3}(?:import: .* left\n)*import: (\d+) of \1, \d+ a second\n$/);
  const before = await contents(from);
  const again = JSON.parse((await adminOf(from)(['import', file, '--json'], { now: () => nowMs })).out);
  const count = Object.values<number>(again.lines).reduce((sum, each) => sum + each);
  expect(again).toMatchObject({ changed: {}, unchanged: count });
  expect(await contents(from)).toEqual(before);

  const { cursor_secret, gateway_key } = await stored(from, keys.account(id));
  const copied = { account_id: id, permissions: ['monit'], suspended: true, cursor_secret, gateway_key };
  for (const [key, row] of [
    [appKey, { last_digits: appKey.slice(-4), created_at: 5, expires_at, lifetime: expires_at - 5, note: 'ci' }],
    [revoked, { last_digits: 'wxyz', created_at: seconds, revoked_at: seconds }],
  ] as const)
    expect(await stored(from, keys.appKey(hashAppKey(key)))).toMatchObject({ ...copied, ...row });
  const alert = { alert_id, title: 'Alert', incident_id };
  const incident = { incident_id, title: 'Down', owner_id: 7 };

  // What merges store in rows means nothing in another table.
  const moved = { moved_sequence: nowMs, moved_from: 'f'.repeat(24), feed_incident: 'e'.repeat(24) };
  await putAll(from, [
    { ...keys.alert(id, alert_id), ...alert, ...moved },
    {
      ...keys.incident(id, incident_id),
      ...incident,
      ...{ title_by: 7, feed_title: 'Fed', owner_by: 7, feed_owner_id: null },
    },
  ]);
  expect(await adminOf(from)(['export', '--out', exported])).toMatchObject({ exitCode: 0, out: '' });
  const text = readFileSync(exported, 'utf8');
  expect(text).not.toContain(appKey);
  const items = text.split('\n').filter((line) => line.includes('hasOwnProperty'));
  expect(items.map((line) => JSON.parse(line))).toEqual([
    {
      ...itemLine(id, deletion),
      ...{ odd, constructor: 'top', at_ms: nowMs },
      ...{ row_order: expect.any(String), deletion_order: expect.any(String) },
    },
  ]);
  await adminOf(to)(['import', exported], { now: () => nowMs });
  expect(await contents(to)).toEqual(before);
  await adminOf(to)(`account unsuspend ${id}`);
  expect(await createAppKeys(testDeps(to)).find(appKey)).toMatchObject({ accountId: id });
  expect(await createAppKeys(testDeps(to)).find(revoked)).toBeUndefined();
});

it('an import that is repeated says what it has changed, and how many lines changed nothing', async () => {
  const id = newAccountId();
  const load = async (...more: object[]) =>
    (await admin('import -', { stdin: lines(accountLine(id), member(id, 1), member(id, 2), ...more) })).out;
  expect(await load()).toBe('Imported 1 account, 2 members.\n');
  const why = 'since the table has the same, newer or deleted data';
  expect(await load()).toBe(`Imported nothing; 3 lines changed nothing, ${why}.\n`);
  expect(await load(member(id, 3))).toBe(`Imported 1 member; 3 lines changed nothing, ${why}.\n`);
});

it.each([
  [
    'is refused a row, which it names',
    'invalid',
    {
      exitCode: 1,
      err: expect.stringMatching(/\d+ of 51 lines were written\.\nstdin:\d+: member cannot be written: .*/),
    },
  ],
  ['is stopped', 'hang', { exitCode: 130, err: expect.not.stringContaining('lines were written') }],
] as const)('an import that %s writes all rows when it is run again', async (_what, fault, expected) => {
  const id = newAccountId();
  const stdin = lines(accountLine(id), ...Array.from({ length: 50 }, (_, index) => member(id, index)));
  const proxy = await startFaultProxy(dynamodbEndpoint());
  const stop = new AbortController();
  let count = 0;
  proxy.plan(({ action, body }) => {
    if (!/PutItem|TransactWriteItems/.test(action) || !body.includes('"member_id"')) return undefined;
    count += 1;
    // The first call has all lines. If it is invalid, each is sent by itself.
    if (fault === 'invalid' && count > 1 && count < 20) return undefined;
    if (fault === 'hang') stop.abort();
    return fault;
  });
  const result = await adminOf(table, proxy.endpoint)('import -', { stdin, signal: stop.signal });
  await proxy.close();
  expect(result).toMatchObject(expected);
  const written = async () => (await storedUnder(table, partitions.member(id))).length;
  expect(await written()).toBeLessThan(50);
  expect((await admin('import -', { stdin })).exitCode).toBe(0);
  expect(await written()).toBe(50);
});

it.each([
  ['import /nowhere/x', 2, /^Cannot read \/nowhere\/x \(ENOENT\): check the path\.\n$/],
  ['export --out /nowhere/x', 1, /^Cannot write \/nowhere\/x \(ENOENT\): check --out\.\n$/],
])('%s: reports in one line what is wrong', async (args, exitCode, err) => {
  expect(await admin(args)).toEqual({ exitCode, out: '', err: expect.stringMatching(err) });
});

describe('export', () => {
  it('of an account replaces a file by one that only its owner can read, and follows no link that others put beside it', async () => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    const [file, victim] = [join(folder, 'private.ndjson'), join(folder, 'victim')];
    writeFileSync(file, 'older', { mode: 0o644 });
    writeFileSync(victim, 'theirs');
    symlinkSync(victim, `${file}.part`);
    expect((await admin(`export --account ${id} --account ${id} --out ${file}`)).exitCode).toBe(0);
    expect([readFileSync(victim, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['theirs', lines(accountLine(id))]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    rmSync(`${file}.part`);
    // One that fails leaves the file, and nothing beside it.
    const proxy = await startFaultProxy(dynamodbEndpoint());
    proxy.plan(({ action }) => (action === 'Query' ? 'invalid' : undefined));
    expect((await adminOf(table, proxy.endpoint)(`export --account ${id} --out ${file}`)).exitCode).toBe(1);
    await proxy.close();
    expect(readFileSync(file, 'utf8')).toBe(lines(accountLine(id)));
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('is written directly to a device, and says that it is full', async () => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    // A link, so that a bug in the export cannot replace a device.
    const link = join(folder, 'full');
    symlinkSync('/dev/full', link);
    const { exitCode, err } = await admin(`export --account ${id} --out ${link}`);
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/^Cannot write \S+full: the disk is full\..*\n$/)]);
    expect(statSync(link).isCharacterDevice()).toBe(true);
  });

  it('contains a merge with its title that is committed after its incidents were read', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alert_ids = await tenant.alerts(150);
    let isMerged = false;
    const reading = intercepted(table, async (send, { input }) => {
      if (!isMerged && JSON.stringify(input).includes('#ALERTS#8')) {
        isMerged = true;
        const body = { alert_ids, incident_id: to, title: 'Merged' };
        await tenant.merge(createHandlers(testDeps(table)).mergeAlerts, body);
      }
      return send();
    });
    const exported = await Array.fromAsync(exportData(reading, [tenant.account]));
    const alerts = exported.filter(({ kind }) => kind === 'alert');
    expect(new Set(alerts.map(({ incident_id }) => incident_id))).toEqual(new Set([to]));
    expect(exported).toContainEqual(expect.objectContaining({ kind: 'incident', incident_id: to, title: 'Merged' }));
  });
});
