import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { sampleData } from '../../../../infra/generate/sample.ts';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { parseJson, stringifyJson } from '../../../../lib/shared/json.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { collections, keys } from '../../../../lib/table/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { startFaultProxy } from '../../../../test/support/fault-proxy.ts';
import {
  connectAgain,
  newAppKey,
  newTable,
  putAll,
  stored,
  storedUnder,
  testDeps,
} from '../../../../test/support/service.ts';
import { tapWire } from '../../../../test/support/wire.ts';
import { loadData } from '../../data/load.ts';
import { accountLine, itemLine, lines } from '../support/data-lines.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const admin = adminOf(table);
const folder = mkdtempSync(join(tmpdir(), 'admin-'));

const member = (account_id: number, member_id: number | bigint) => ({
  ...{ kind: 'member', account_id, member_id, name: 'Ada' },
});
const members = (account: number, count: number) =>
  Array.from({ length: count }, (_, index) => member(account, index + 1));
const linesIn = (text: string) => text.trim().split('\n').map(parseJson) as Record<string, unknown>[];

/** The sample data with one host in ten. */
const sampleLines = () =>
  [...sampleData(Date.now())].filter((line, index) => !line.includes('"kind":"host') || index % 10 === 0);

const isNoOrder = ([name]: [string, unknown]) => !name.endsWith('_order');
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/** All rows of a table, without the audit, the times of imports and the values that differ from table to table. */
async function contents({ client, name }: Table): Promise<string[]> {
  const rows: string[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: name }))
    for (const { cursor_secret: _s, gateway_key: _g, revision: _r, account_revision: _ar, ...row } of Items)
      if (!String(row.pk).endsWith('#AUDIT'))
        rows.push(stringifyJson(Object.fromEntries(Object.entries(row).filter(isNoOrder).sort(byName))));
  return rows.sort();
}

describe('import', () => {
  it('writes a file, says what it wrote, and gives the same rows when it is run again', async () => {
    const other = await newTable();
    const file = join(folder, 'sample.ndjson');
    writeFileSync(file, sampleLines().join('\n'));
    const first = await adminOf(other)(['import', file]);
    expect(first.exitCode).toBe(0);
    expect(first.out).toMatch(/^Imported 2 accounts, 4 app keys, 4 members, \d+ hosts.*\.\n$/);
    expect(first.err).toMatch(/^Account 1 .*\nAccount 2 .*\n(import: .* left\n)*import: \d+ of \d+, \d+ a second\n$/);
    const before = await contents(other);
    await adminOf(other)(['import', file]);
    expect(await contents(other)).toEqual(before);
  });

  it('writes ObjectIDs in lower case, and warns of incidents and owners that neither data nor table have', async () => {
    const id = newAccountId();
    const [a, b] = ['a'.repeat(24), 'b'.repeat(24)];
    const [incident, alert] = ['incident', 'alert'].map((kind) => ({ kind, account_id: id, title: 't' }));
    const stdin = lines(
      accountLine(id),
      { ...alert, alert_id: 'E'.repeat(24), incident_id: a.toUpperCase() },
      { ...alert, alert_id: 'f'.repeat(24), incident_id: b },
      { ...incident, incident_id: a.toUpperCase(), owner_id: 7 },
    );
    const warnings = async () => (await admin(`import - --account ${id}`, { stdin })).err.match(/stdin.*/g);
    expect(await warnings()).toEqual([
      `stdin:3: warning: incident_id ${b} is neither in the data nor in the table`,
      'stdin:4: warning: owner_id 7 is neither in the data nor in the table',
    ]);
    const [incidentKey, alertKey] = [keys.incident(id, a), keys.alert(id, 'e'.repeat(24))];
    expect(await stored(table, incidentKey)).toMatchObject({ incident_id: a, title: 't', owner_id: 7 });
    expect(await stored(table, alertKey)).toMatchObject({ alert_id: 'e'.repeat(24), title: 't', incident_id: a });
    await admin('import -', { stdin: lines(member(id, 7), { ...incident, incident_id: b }) });
    expect(await warnings()).toBeNull();
  });

  it('writes an account and its keys with the fields of their lines', async () => {
    const account_id = newAccountId();
    const [appKey, hash] = [newAppKey(), 'ab'.repeat(32)];
    const stdin = lines(
      { ...accountLine(account_id), permissions: ['monit'], suspended: true },
      { kind: 'app_key', account_id, app_key: appKey, created_at: 5, expires_at: 1_900_000_000, note: 'ci' },
      { kind: 'app_key', account_id, app_key_hash: hash, last_digits: 'wxyz', revoked: true },
    );
    expect((await admin('import -', { stdin, now: () => 1_700_000_000_999 })).exitCode).toBe(0);
    const account = await stored(table, keys.account(account_id));
    const copied = { account_id, permissions: ['monit'], suspended: true };
    expect(account).toMatchObject({ ...copied, name: 'Acme', app_keys: new Set([hashAppKey(appKey), hash]) });
    expect(await stored(table, keys.listedAccount(account_id))).toEqual(keys.listedAccount(account_id));
    const { cursor_secret, gateway_key } = account;
    const ofKey = { ...copied, cursor_secret, gateway_key, account_revision: expect.any(Number) };
    expect(await stored(table, keys.appKey(hashAppKey(appKey)))).toEqual({
      ...{ ...keys.appKey(hashAppKey(appKey)), ...ofKey, last_digits: appKey.slice(-4) },
      ...{ created_at: 5, expires_at: 1_900_000_000, lifetime: 1_899_999_995, note: 'ci' },
    });
    expect(await stored(table, keys.appKey(hash))).toEqual({
      ...{ ...keys.appKey(hash), ...ofKey, last_digits: 'wxyz' },
      ...{ created_at: 1_700_000_000, revoked_at: 1_700_000_000 },
    });
  });

  it('stores fields of any name, and export returns them', async () => {
    const id = newAccountId();
    const odd = { constructor: { name: 'Set' }, toString: 1, list: [{ constructor: null, hasOwnProperty: [true] }] };
    const item = itemLine(id, { odd, constructor: 'top' });
    expect(await admin('import -', { stdin: lines(accountLine(id), item) })).toMatchObject({ exitCode: 0 });
    const { out } = await admin(`export --account ${id}`);
    expect(JSON.parse(out.split('\n')[1] ?? '')).toEqual({ ...item, at_ms: expect.any(Number) });
  });

  it('reports an unreadable file in one line', async () => {
    const err = 'Cannot read /nowhere/x (ENOENT): check the path.\n';
    expect(await admin('import /nowhere/x')).toEqual({ exitCode: 1, out: '', err });
  });

  it('slows down and continues when DynamoDB throttles', async () => {
    const id = newAccountId();
    const throttled = connectAgain(table);
    let refusals = 0;
    tapWire(throttled, async ({ command, number }, send) => {
      if (command !== 'PutItemCommand' || number % 2 === 0) return send();
      refusals += 1;
      const name = 'ProvisionedThroughputExceededException';
      throw Object.assign(new Error('slow down'), { name, $retryable: { throttling: true } });
    });
    await loadData(throttled, 'test', [accountLine(id), ...members(id, 50)].map(stringifyJson), { nowMs: 1_000 });
    expect(refusals).toBeGreaterThan(10);
    expect(await storedUnder(table, collections.members(id))).toHaveLength(50);
  });

  it('is completed by the same command after DynamoDB has refused a row, which it names', async () => {
    const id = newAccountId();
    const stdin = lines(accountLine(id), ...['Ada', 'refused', 'Bea'].map((name, n) => ({ ...member(id, n), name })));
    const proxy = await startFaultProxy(dynamodbEndpoint());
    proxy.plan(({ body }) => (body.includes('"refused"') ? 'invalid' : undefined));
    const { exitCode, err } = await adminOf(table, proxy.endpoint)('import -', { stdin });
    await proxy.close();
    expect(exitCode).toBe(1);
    const problem = `stdin:3: member ${id} 1 cannot be written: a planted fault`;
    expect(err).toMatch(new RegExp(`[123] of 4 lines were written\\.\n${problem}\n$`));
    expect((await admin('import -', { stdin })).exitCode).toBe(0);
    const names = (await storedUnder(table, collections.members(id))).map(({ name }) => name);
    expect(names).toEqual(['Ada', 'refused', 'Bea']);
  });

  it('says so when it is stopped half-way, and is completed by the same command', async () => {
    const id = newAccountId();
    const key = { kind: 'app_key', account_id: id, app_key: newAppKey(), created_at: 1 };
    const stdin = lines(accountLine(id), key, ...members(id, 200));
    const [stopped, whole] = [await newTable(), await newTable()];
    const written = async () => (await storedUnder(stopped, collections.members(id))).length;
    const proxy = await startFaultProxy(dynamodbEndpoint());
    let puts = 0;
    proxy.plan(({ body }) => {
      if (!body.includes('"member_id"')) return undefined;
      puts += 1;
      return puts > 20 ? 'hang' : undefined;
    });
    const stop = new AbortController();
    const stopping = adminOf(stopped, proxy.endpoint)('import -', { stdin, signal: stop.signal });
    await expect.poll(written).toBeGreaterThan(0);
    stop.abort();
    const err = expect.stringMatching(/Stopped\. Run the same command again to finish\.\n$/);
    expect(await stopping).toMatchObject({ exitCode: 130, err });
    await proxy.close();
    expect(await written()).toBeLessThan(200);
    for (const target of [stopped, whole]) expect((await adminOf(target)('import -', { stdin })).exitCode).toBe(0);
    expect(await contents(stopped)).toEqual(await contents(whole));
  });

  it('shows a bar with rate and time left on a terminal', async () => {
    const id = newAccountId();
    const file = join(folder, 'bar.ndjson');
    writeFileSync(file, lines(accountLine(id), ...members(id, 300)));
    const { err } = await admin(['import', file], { terminal: true });
    expect(err).toMatch(/import .*100 % \| 301 of 301 \| \d+ a second \| \d+ s left/);
  });
});

describe('export', () => {
  it('can be imported to give the same rows, with app keys by their hashes', async () => {
    const [from, to] = [await newTable(), await newTable()];
    const [id, appKey] = [newAccountId(), newAppKey()];
    const expires_at = Math.floor(Date.now() / 1000) + 900;
    const incident = { incident_id: 'c'.repeat(24), title: 'Down' };
    const alert = { alert_id: 'd'.repeat(24), title: 'Alert', incident_id: incident.incident_id };
    const addedLines = lines(
      accountLine(id, { suspended: true }),
      { kind: 'app_key', account_id: id, app_key: appKey, created_at: 5, expires_at, note: 'ci' },
      member(id, 9007199254740993n),
      itemLine(id, { version: 2, deleted_at_ms: 9, deleted_by: 'k', more: { a: [1] } }),
      { kind: 'incident', account_id: id, ...incident, owner_id: 7 },
      { kind: 'alert', account_id: id, ...alert },
    );
    await loadData(from, 'sample', [...sampleLines(), ...addedLines.split('\n')], { nowMs: 1_000 });
    const before = await contents(from);
    // What merges store in rows means nothing in another table.
    const moved = { moved_sequence: 7, moved_from: 'f'.repeat(24), previous_sequence: 6 };
    await putAll(from, [
      { ...keys.alert(id, alert.alert_id), ...alert, ...moved },
      { ...keys.incident(id, incident.incident_id), ...incident, ...{ owner_id: 7, last_change: { sequence: 7 } } },
    ]);
    const file = join(folder, 'out.ndjson');
    expect(await adminOf(from)(['export', '--out', file])).toMatchObject({ exitCode: 0, out: '' });
    const exported = readFileSync(file, 'utf8');
    expect(exported).not.toContain(appKey);
    await adminOf(to)(['import', file], { now: () => 1_000 });
    expect(await contents(to)).toEqual(before);
    await adminOf(to)(`account unsuspend ${id}`);
    expect(await createAppKeys(testDeps(to)).find(appKey)).toMatchObject({ accountId: id });
  });

  it('contains only the named accounts, and fails if one does not exist', async () => {
    const [named, unnamed] = [newAccountId(), newAccountId()];
    await admin('import -', {
      stdin: lines(accountLine(named), accountLine(unnamed), member(named, 1), member(unnamed, 1)),
    });
    const { out } = await admin(`export --account ${named} --account ${named}`);
    expect(linesIn(out)).toEqual([accountLine(named), { ...member(named, 1), at_ms: expect.any(Number) }]);
    const err = 'Account 8 does not exist: `account list` shows all accounts.\n';
    expect(await admin('export --account 8')).toEqual({ exitCode: 1, out: '', err });
  });

  /** An account that is exported to a file. */
  async function exporting(name: string) {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    const file = join(folder, name);
    const run = () => admin(['export', '--account', String(id), '--out', file]);
    return { file, run, expected: lines(accountLine(id)) };
  }

  it('is a file that only its owner can read, even if it replaces one that others could read', async () => {
    const { file, run, expected } = await exporting('private.ndjson');
    writeFileSync(file, 'older', { mode: 0o644 });
    expect((await run()).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(expected);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('does not follow a link that others put beside the file', async () => {
    const { file, run, expected } = await exporting('linked.ndjson');
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'theirs');
    symlinkSync(victim, `${file}.part`);
    expect((await run()).exitCode).toBe(0);
    expect(readFileSync(victim, 'utf8')).toBe('theirs');
    expect(readFileSync(file, 'utf8')).toBe(expected);
    rmSync(`${file}.part`);
  });

  it('leaves nothing behind if it fails', async () => {
    expect((await admin(['export', '--account', '8', '--out', join(folder, 'failed')])).exitCode).toBe(1);
    expect(readdirSync(folder).filter((name) => /failed|\.part$/.test(name))).toEqual([]);
  });

  it('to a missing folder is reported in one line', async () => {
    const err = 'Cannot write /nowhere/x (ENOENT): check --out.\n';
    expect(await admin('export --out /nowhere/x')).toEqual({ exitCode: 1, out: '', err });
  });

  it('is written directly to a device, and reports a full disk', async () => {
    const diskFull = /^Cannot write \S+full: the disk is full\. Free some space, or choose another --out\.\n$/;
    for (const [device, expected] of [
      ['null', { exitCode: 0 }],
      ['full', { exitCode: 1, err: expect.stringMatching(diskFull) }],
    ] as const) {
      // Links, so that a bug in the export cannot replace a device.
      const { file: link, run } = await exporting(device);
      symlinkSync(`/dev/${device}`, link);
      expect(await run()).toMatchObject(expected);
      expect(statSync(link).isCharacterDevice()).toBe(true);
      rmSync(link);
    }
  });
});
