import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleData } from '../../../../infra/generate/sample.ts';
import { createAppKeys, hashAppKey } from '../../../../lib/auth/app-keys.ts';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { collections, type Key, keys } from '../../../../lib/dynamodb/keys.ts';
import { problemsOf } from '../../../../lib/ingest/check-line.ts';
import { parseJson, stringifyJson } from '../../../../lib/shared/json.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { startFaultProxy } from '../../../../test/support/fault-proxy.ts';
import { RUM_RECORD } from '../../../../test/support/rum.ts';
import { newAppKey, newTable, put, putAll, stored, storedUnder, testDeps } from '../../../../test/support/service.ts';
import { tapWire } from '../../../../test/support/wire.ts';
import { exportData } from '../../data/export.ts';
import { loadData } from '../../data/load.ts';
import { writeBatch } from '../../data/write.ts';
import { accountLine, itemLine, lines } from '../support/data-lines.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const table = await newTable();
const admin = adminOf(table);
const folder = mkdtempSync(join(tmpdir(), 'admin-'));

const member = (account_id: number, member_id: number | bigint) => ({
  kind: 'member',
  account_id,
  member_id,
  name: 'Ada',
});

const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1);

/** The same value with its members in order. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(byName)
            .map(([name, inner]) => [name, sorted(inner)]),
        )
      : value;

/** All rows of a table, without the audit and without the values that differ in every table. */
async function contents(of: Table): Promise<string[]> {
  const rows: string[] = [];
  for await (const { Items = [] } of paginateScan({ client: of.client }, { TableName: of.name }))
    for (const { cursor_secret: _secret, revision: _r, account_revision: _ar, ...row } of Items)
      if (!String(row.pk).endsWith('#AUDIT'))
        rows.push(stringifyJson(Object.fromEntries(Object.entries(row).sort(byName))));
  return rows.sort();
}

describe('import', () => {
  it('writes a file, says what it wrote, and gives the same rows when it is run again', async () => {
    const other = await newTable();
    const file = join(folder, 'sample.ndjson');
    // Of the hosts one in ten.
    const some = [...sampleData(Date.now())].filter(
      (line, index) => !line.includes('"kind":"host') || index % 10 === 0,
    );
    writeFileSync(file, some.join('\n'));
    const first = await adminOf(other)(['import', file]);
    expect(first.exitCode).toBe(0);
    expect(first.out).toMatch(/^Imported 2 accounts, 4 app keys, 4 members, \d+ hosts.*\.\n$/);
    expect(first.err).toMatch(/^Account 1 .*\nAccount 2 .*\n(import: .* left\n)*import: \d+ of \d+, \d+ a second\n$/);
    const before = await contents(other);
    await adminOf(other)(['import', file]);
    expect(await contents(other)).toEqual(before);
  });

  it('checks the whole file first, and writes nothing of it if a line is invalid', async () => {
    const id = newAccountId();
    const stdin = `${lines(accountLine(id), member(id, 1))}{"kind":"member","account_id":${id}}\nx\n`;
    const { exitCode, out, err } = await admin('import -', { stdin });
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^stdin:3: member_id is required .*\nstdin:3: name is required .*\nstdin:4: is not valid JSON \(column 1\)\nstdin: 3 problems\n$/,
    );
    expect(await stored(table, keys.account(id))).toBeUndefined();
  });

  it('warns of incidents and owners that are neither in the data nor in the table, and still writes the data', async () => {
    const id = newAccountId();
    const objectId = (digit: string) => digit.repeat(24);
    const incident = { kind: 'incident', account_id: id, title: 't' };
    const alert = { kind: 'alert', account_id: id, title: 't' };
    const own = lines(
      accountLine(id),
      { ...alert, alert_id: objectId('1'), incident_id: objectId('A') },
      { ...alert, alert_id: objectId('2'), incident_id: objectId('b') },
      { ...incident, incident_id: objectId('a'), owner_id: 7 },
    );
    const { exitCode, err } = await admin(['import', '-', '--account', String(id)], { stdin: own });
    expect([exitCode, err.match(/stdin.*/g) ?? err]).toEqual([
      0,
      [
        `stdin:3: warning: incident_id ${objectId('b')} is neither in the data nor in the table`,
        'stdin:4: warning: owner_id 7 is neither in the data nor in the table',
      ],
    ]);
    const missing = lines(member(id, 7), { ...incident, incident_id: objectId('b') });
    await admin('import -', { stdin: missing });
    const again = await admin(['import', '-', '--account', String(id)], { stdin: own });
    expect(again.err).not.toContain('warning');
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
    const keyRow = { ...copied, cursor_secret, gateway_key };
    expect(await stored(table, keys.appKey(hashAppKey(appKey)))).toMatchObject({
      ...{ ...keyRow, last_digits: appKey.slice(-4), created_at: 5, expires_at: 1_900_000_000, note: 'ci' },
    });
    const second = await stored(table, keys.appKey(hash));
    expect(second).toMatchObject({
      ...{ ...keyRow, last_digits: 'wxyz', created_at: 1_700_000_000, revoked_at: 1_700_000_000 },
    });
    for (const absent of ['note', 'expires_at']) expect(second).not.toHaveProperty(absent);
  });

  it('writes ObjectIDs in lower case, wherever they stand', async () => {
    const account_id = newAccountId();
    const [incident_id, alert_id] = ['ABCDEF'.repeat(4), 'FEDCBA'.repeat(4)];
    const stdin = lines(
      accountLine(account_id),
      { kind: 'incident', account_id, incident_id, title: 'Down' },
      { kind: 'alert', account_id, alert_id, title: 'Alert', incident_id },
    );
    expect((await admin('import -', { stdin })).exitCode).toBe(0);
    const [incident, alert] = [keys.incident(account_id, incident_id), keys.alert(account_id, alert_id)];
    const id = incident_id.toLowerCase();
    expect(await stored(table, incident)).toEqual({ ...incident, incident_id: id, title: 'Down' });
    expect(await stored(table, alert)).toEqual({
      ...{ ...alert, alert_id: alert_id.toLowerCase() },
      ...{ title: 'Alert', incident_id: id },
    });
  });

  it('reports an unreadable file in one line', async () => {
    expect(await admin('import /nowhere/x')).toEqual({
      exitCode: 1,
      out: '',
      err: 'Cannot read /nowhere/x (ENOENT): check the path.\n',
    });
  });

  it('slows down and continues when DynamoDB throttles', async () => {
    const id = newAccountId();
    const other = await newTable();
    let refusals = 0;
    const tap = tapWire(other, async ({ command, number }, send) => {
      if (command === 'BatchWriteItemCommand' && number % 3 !== 0) {
        refusals += 1;
        throw Object.assign(new Error('slow down'), {
          name: 'ProvisionedThroughputExceededException',
          $retryable: { throttling: true },
        });
      }
      await send();
    });
    const hosts = Array.from({ length: 200 }, (_, index) => lines(member(id, index + 1)).trim());
    await loadData(other, 'test', [lines(accountLine(id)).trim(), ...hosts], { nowSeconds: 1 });
    tap.remove();
    expect(refusals).toBeGreaterThan(8);
    expect(await storedUnder(other, collections.members(id))).toHaveLength(200);
  });

  it('fails with the row that DynamoDB refuses, and says how many lines were written', async () => {
    const id = newAccountId();
    const proxy = await startFaultProxy(dynamodbEndpoint());
    proxy.plan(({ action }) => (action === 'BatchWriteItem' ? 'invalid' : undefined));
    const { exitCode, err } = await runCommand(['import', '-', '--endpoint', proxy.endpoint, '--table', table.name], {
      stdin: lines(accountLine(id), member(id, 1)),
    });
    await proxy.close();
    expect(exitCode).toBe(1);
    expect(err).toMatch(/1 of 2 lines were written\.\nstdin:2: member \d+ 1 cannot be written: a planted fault\n$/);
  });

  /** Lines of 200 members, and a proxy of DynamoDB that answers only the first batch of them. */
  async function halfWay() {
    const id = newAccountId();
    const proxy = await startFaultProxy(dynamodbEndpoint());
    let batches = 0;
    proxy.plan(({ action }) => {
      if (action !== 'BatchWriteItem') return undefined;
      batches += 1;
      return batches > 1 ? 'hang' : undefined;
    });
    const text = lines(
      accountLine(id),
      { kind: 'app_key', account_id: id, app_key: newAppKey(), created_at: 1 },
      ...Array.from({ length: 200 }, (_, index) => member(id, index + 1)),
    );
    const written = async (to: Table) => (await storedUnder(to, collections.members(id))).length;
    return { text, proxy, written };
  }

  it('says so when it is stopped half-way, and is completed by the same command', async () => {
    const { text, proxy, written } = await halfWay();
    const stop = new AbortController();
    const stopping = runCommand(['import', '-', '--endpoint', proxy.endpoint, '--table', table.name], {
      stdin: text,
      signal: stop.signal,
    });
    await expect.poll(() => written(table)).toBeGreaterThan(0);
    stop.abort();
    const { exitCode, err } = await stopping;
    await proxy.close();
    expect(exitCode).toBe(130);
    expect(err).toMatch(/Stopped\. Run the same command again to finish\.\n$/);
    expect(await written(table)).toBeLessThan(200);
    expect((await admin('import -', { stdin: text })).exitCode).toBe(0);
    expect(await written(table)).toBe(200);
  });

  it('gives the same rows as an uninterrupted import if it is killed and run again', async () => {
    const file = join(folder, 'killed.ndjson');
    const { text, proxy, written } = await halfWay();
    writeFileSync(file, text);
    const [killed, whole] = [await newTable(), await newTable()];
    const entry = fileURLToPath(new URL('../../cli/admin.ts', import.meta.url));
    const args = [entry, 'import', file, '--endpoint', proxy.endpoint, '--table', killed.name];
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    await expect.poll(() => written(killed)).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    await proxy.close();
    expect(await written(killed)).toBeLessThan(200);
    for (const one of [killed, whole]) expect((await adminOf(one)(['import', file])).exitCode).toBe(0);
    expect(await contents(killed)).toEqual(await contents(whole));
  });

  it('shows a bar with rate and time left on a terminal', async () => {
    const id = newAccountId();
    const file = join(folder, 'bar.ndjson');
    writeFileSync(file, lines(accountLine(id), ...Array.from({ length: 300 }, (_, index) => member(id, index + 1))));
    const { err } = await admin(['import', file], { terminal: true });
    expect(err).toMatch(/import .*100 % \| 301 of 301 \| \d+ a second \| \d+ s left/);
  });
});

describe('export', () => {
  it('can be imported to give the same rows, with app keys by their hashes', async () => {
    const from = await newTable();
    const to = await newTable();
    const appKey = newAppKey();
    const startSeconds = Math.floor(Date.now() / 1000);
    await loadData(
      from,
      'sample',
      [
        // Of the hosts one in ten.
        ...[...sampleData(Date.now())].filter((line, index) => !line.includes('"kind":"host') || index % 10 === 0),
        ...lines(
          { ...accountLine(77), suspended: true },
          {
            kind: 'app_key',
            account_id: 77,
            app_key: appKey,
            created_at: 5,
            expires_at: startSeconds + 900,
            note: 'ci',
          },
          { ...member(77, 9007199254740993n) },
          {
            kind: 'work_item',
            account_id: 77,
            work_item_id: 'w',
            version: 2,
            title: 't',
            deleted_at_ms: 9,
            more: { a: [1] },
          },
        ).split('\n'),
      ],
      { nowSeconds: 1 },
    );
    const file = join(folder, 'out.ndjson');
    const exported = await adminOf(from)(['export', '--out', file]);
    expect([exported.exitCode, exported.out]).toEqual([0, '']);
    expect(readFileSync(file, 'utf8')).not.toContain(appKey);
    await adminOf(to)(['import', file]);
    const again = await adminOf(to)('export');
    expect(again.out).toBe(readFileSync(file, 'utf8'));
    await adminOf(to)('account unsuspend 77');
    expect(await createAppKeys(testDeps(to)).find(appKey)).toMatchObject({ accountId: 77 });
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('contains every stored field of every kind of row', async () => {
    const from = await newTable();
    const account = 4_611_686_018_427_387_905n;
    const [hash, bareHash] = ['a'.repeat(64), 'b'.repeat(64)];
    const [incident, alert, loose] = ['c'.repeat(24), 'd'.repeat(24), 'e'.repeat(24)];
    const cursor_secret = Buffer.from('secret');
    const member = { member_id: 9_007_199_254_740_993n, name: 'Ada' };
    const host = {
      ...{
        agent_version: '4.1',
        edge_cluster: 'fra',
        enabled: true,
        capability_status: 'running',
        capture_mode: 'ebpf',
      },
      ...{ report_interval_ms: 30_000, snapshot_ready: false, reason_codes: ['own'] },
    };
    const status = {
      ...{ received_at_ms: 1_795_000_000_000, observed_at_ms: 1_794_999_999_650, node_count: 12, edge_count: 18 },
      ...{ authoritative: true, graph_available: false, snapshot_truncated: true, snapshot_degraded: false },
      ...{ health_at_ms: 1_794_999_999_000, reason_codes: ['slow'] },
    };
    const usage = {
      ...{ 'session_investigate.used_cnt': 1, 'session_measure.used_cnt': 2, 'session_replay.used_cnt': 3 },
      session_limit_reached: true,
    };
    const item = {
      ...{ work_item_id: 'w', version: 2, title: 't', deleted_at_ms: 9, deleted_by: 'k' },
      more: { list: [1, null, 'x'] },
    };
    const places = { moved_sequence: 7, moved_from: 'f'.repeat(24), stayed_sequence: 8, loaded_after: 3 };
    const change = { last_change: { sequence: 7, old_title: 'Old' }, loaded_after: 3 };
    const accountRow = { name: 'Northwind', permissions: ['monit', 'more'], suspended: true };
    const rows: (Key & Record<string, unknown>)[] = [
      keys.listedAccount(account),
      {
        ...keys.account(account),
        ...{ ...accountRow, account_id: account, cursor_secret, revision: 4, gateway_key: 'g' },
        app_keys: new Set([hash, bareHash]),
      },
      {
        ...{ ...keys.appKey(hash), account_id: account, permissions: ['monit'], cursor_secret, account_revision: 4 },
        ...{ last_digits: 'wxyz', created_at: 5, expires_at: 1_900_000_000, revoked_at: 6, lifetime: 60, note: 'ci' },
      },
      { ...keys.appKey(bareHash), account_id: account, permissions: ['monit'], cursor_secret, created_at: 8 },
      { ...keys.member(account, member.member_id), ...member },
      { ...keys.host(account, 'h1'), ...host },
      { ...keys.hostStatus(account, 'h1'), ...status },
      { ...keys.rumResource(account), ...RUM_RECORD, deleted: true },
      { ...keys.rumUsage(account), ...usage },
      { ...keys.workItem(account, 'w'), ...item },
      { ...keys.incident(account, incident), incident_id: incident, title: 'Down', owner_id: 7, ...change },
      { ...keys.alert(account, alert), alert_id: alert, title: 'Alert', incident_id: incident, ...places },
      { ...keys.alert(account, loose), alert_id: loose, title: 'Alert' },
    ];
    await putAll(from, rows);
    const { out } = await adminOf(from)('export');
    const exported = out
      .trim()
      .split('\n')
      .map((line) => parseJson(line) as { kind: string; app_key_hash?: string });
    const of = (kind: string, fields: object) => ({ kind, account_id: account, ...fields });
    const [before, keyLines, after] = [exported.slice(0, 1), exported.slice(1, 3), exported.slice(3)];
    expect(before).toEqual([of('account', accountRow)]);
    expect(new Set(keyLines)).toEqual(
      new Set([
        of('app_key', {
          ...{ app_key_hash: hash, last_digits: 'wxyz', created_at: 5, expires_at: 1_900_000_000 },
          ...{ revoked: true, note: 'ci' },
        }),
        of('app_key', { app_key_hash: bareHash, last_digits: '', created_at: 8 }),
      ]),
    );
    expect(after).toEqual([
      of('member', member),
      of('host', { host_id: 'h1', ...host }),
      of('host_status', { host_id: 'h1', ...status }),
      of('rum_resource', { ...RUM_RECORD, deleted: true }),
      of('rum_usage', usage),
      of('work_item', item),
      of('incident', { incident_id: incident, title: 'Down', owner_id: 7 }),
      of('alert', { alert_id: alert, title: 'Alert', incident_id: incident }),
      of('alert', { alert_id: loose, title: 'Alert' }),
    ]);
  });

  it('contains only the named accounts, and fails if one does not exist', async () => {
    const [one, other] = [newAccountId(), newAccountId()];
    await admin('import -', { stdin: lines(accountLine(one), accountLine(other), member(one, 1), member(other, 1)) });
    const { out } = await admin(`export --account ${one}`);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([accountLine(one), member(one, 1)]);
    const missing = await admin('export --account 8');
    expect([missing.exitCode, missing.err]).toEqual([
      1,
      'Account 8 does not exist: `account list` shows all accounts.\n',
    ]);
  });

  it('is a file that only its owner can read, even if it replaces one that others could read', async () => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    const file = join(folder, 'private.ndjson');
    writeFileSync(file, 'older', { mode: 0o644 });
    expect((await admin(['export', '--account', String(id), '--out', file])).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(lines(accountLine(id)));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('does not follow a link that others put beside the file', async () => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    const [file, victim] = [join(folder, 'linked.ndjson'), join(folder, 'victim')];
    writeFileSync(victim, 'theirs');
    symlinkSync(victim, `${file}.part`);
    expect((await admin(['export', '--account', String(id), '--out', file])).exitCode).toBe(0);
    expect(readFileSync(victim, 'utf8')).toBe('theirs');
    expect(readFileSync(file, 'utf8')).toBe(lines(accountLine(id)));
    rmSync(`${file}.part`);
  });

  it('that fails leaves nothing behind', async () => {
    const file = join(folder, 'failed.ndjson');
    expect((await admin(['export', '--account', '8', '--out', file])).exitCode).toBe(1);
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('to a missing folder is reported in one line', async () => {
    const { exitCode, err } = await admin('export --out /nowhere/x');
    expect([exitCode, err]).toEqual([1, 'Cannot write /nowhere/x (ENOENT): check --out.\n']);
  });

  it('property: the export of any imported hosts and work items equals what was imported', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
    const natural = fc
      .bigInt({ min: 0n, max: 2n ** 63n - 1n })
      .map((value) => (value < 2n ** 53n ? Number(value) : value));
    const host = fc.record(
      {
        host_id: text,
        agent_version: text,
        edge_cluster: text,
        enabled: fc.boolean(),
        snapshot_ready: fc.boolean(),
        report_interval_ms: natural.filter((value) => value > 0),
      },
      { requiredKeys: ['host_id', 'agent_version', 'edge_cluster', 'enabled', 'snapshot_ready'] },
    );
    const item = fc.record({
      work_item_id: text,
      version: natural.filter((value) => value > 0 && value < 2n ** 63n - 1n), // higher ones can only be deleted
      title: text,
      extra: fc.jsonValue({ maxDepth: 2 }).filter((value) => problemsOf(itemLine(1, { value })).length === 0),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(host, { selector: ({ host_id }) => host_id, maxLength: 5 }),
        fc.uniqueArray(item, { selector: ({ work_item_id }) => work_item_id, maxLength: 5 }),
        async (hosts, items) => {
          const id = newAccountId();
          const data = [
            accountLine(id),
            ...hosts.map((fields) => ({ kind: 'host', account_id: id, ...fields })),
            ...items.map((fields) => ({ kind: 'work_item', account_id: id, ...fields })),
          ];
          await loadData(table, 'test', data.map(stringifyJson), { nowSeconds: 1 });
          const exported = await Array.fromAsync(exportData(table, [id]));
          const normal = (entities: object[]) => entities.map((entity) => stringifyJson(sorted(entity))).sort();
          expect(normal(exported)).toEqual(normal(data));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('fleet simulate', () => {
  it('simulates the given number of hosts, in several statuses, and the same hosts for the same seed', async () => {
    const fleets = [];
    const now = () => 1_800_000_000_000;
    for (const seed of [1, 1, 2]) {
      const id = newAccountId();
      await admin('import -', { stdin: lines(accountLine(id)) });
      const { exitCode, out } = await admin(`fleet simulate --account ${id} --hosts 100 --seed ${seed}`, { now });
      expect(exitCode).toBe(0);
      expect(out).toMatch(/^100 hosts reported; \d+ records sent\.\n$/);
      const shown = JSON.parse((await admin(`show fleet --account ${id} --json`, { now })).out);
      expect(shown.hosts).toBe(100);
      for (const status of ['active', 'degraded', 'stale', 'unsupported', 'disabled'])
        expect(shown.statuses[status]).toBeGreaterThan(0);
      expect(Object.keys(shown.edge_clusters)).toHaveLength(6);
      const rows = stringifyJson(await storedUnder(table, collections.hosts(id)));
      // The order of records with the same time contains the account.
      fleets.push(rows.replaceAll(String(id), '').replaceAll(/"feed_order":\d+/g, ''));
    }
    expect(fleets[0]).toBe(fleets[1]);
    expect(fleets[0]).not.toBe(fleets[2]);
  });

  it('keeps reporting for the given time; after that the hosts become stale', async () => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    const hosts = async () => stringifyJson(await storedUnder(table, collections.hosts(id)));
    let clock = Date.now();
    const now = () => (clock += 10_000);
    const simulate = `fleet simulate --account ${id} --hosts 40 --interval 1s`;
    expect((await admin(simulate, { now })).exitCode).toBe(0);
    const first = await hosts();
    expect((await admin(`${simulate} --for 20m`, { now })).exitCode).toBe(0);
    expect(await hosts()).not.toBe(first);
    clock += 3_600_000;
    const shown = JSON.parse((await admin(`show fleet --account ${id} --json`, { now })).out);
    expect(shown.statuses.active).toBe(0);
    expect(shown.statuses.stale).toBeGreaterThan(30);
  });
});

describe('a row that DynamoDB leaves unprocessed', () => {
  it('is sent again', async () => {
    const id = newAccountId();
    const other = await newTable();
    let cut = 0;
    const { client } = other;
    client.middlewareStack.add(
      (next) => async (args) => {
        const input = args.input as { RequestItems: Record<string, unknown[]> };
        const all = input.RequestItems[other.name] ?? [];
        if (cut >= 3 || all.length < 2) return next(args);
        cut += 1;
        const result = await next({ ...args, input: { ...input, RequestItems: { [other.name]: all.slice(1) } } });
        const left = { [other.name]: all.slice(0, 1) };
        return { ...result, output: { ...(result.output as object), UnprocessedItems: left } as never };
      },
      { step: 'initialize', priority: 'high', name: 'cut' },
    );
    await writeBatch(
      other,
      [1, 2, 3].map((index) => ({ ...keys.member(id, index), member_id: index })),
    );
    expect(cut).toBeGreaterThan(0);
    client.middlewareStack.remove('cut');
    expect(await storedUnder(other, collections.members(id))).toHaveLength(3);
    await put(other, keys.member(id, 4), {});
  });
});
