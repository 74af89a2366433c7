/**
 * Imported data is not trusted: a file takes nothing from another account, and undoes no revocation, suspension or
 * deletion.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/auth/app-keys.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { aroundCalls } from '../../../../test/support/faults.ts';
import { connectAgain, newAppKey, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { loadData } from '../../data/load.ts';
import { startFakeAws } from '../support/aws.ts';
import { accountLine, itemLine, lines } from '../support/data-lines.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const HOUR_MS = 3_600_000;

const table = await newTable();
const admin = adminOf(table);

const keyLine = (account_id: number, app_key: string, more: object = {}) => ({
  ...{ kind: 'app_key', account_id, app_key },
  ...more,
});

/** The caller of a key, as a function finds it that has not cached the key. */
const callerOf = (appKey: string, nowMs = Date.now()) =>
  createAppKeys(testDeps(table, { now: () => nowMs })).find(appKey);
const idOf = (appKey: string) => hashAppKey(appKey).slice(0, 16);

/** An account that was imported with a key, and what an export of it gives. */
async function imported(more: { account?: object; key?: object } = {}) {
  const id = newAccountId();
  const appKey = newAppKey();
  const stdin = lines(accountLine(id, more.account), keyLine(id, appKey, more.key));
  expect((await admin('import -', { stdin })).exitCode).toBe(0);
  return { id, appKey, exported: async () => (await admin(`export --account ${id}`)).out };
}

it('refuses lines of accounts that --account does not name, and creates one that it names', async () => {
  const [id, other] = [newAccountId(), newAccountId()];
  const stdin = lines(accountLine(id), accountLine(other), keyLine(other, newAppKey()));
  const { exitCode, err } = await admin(`import - --account ${id}`, { stdin });
  expect(exitCode).toBe(1);
  const refused = [2, 3].map((n) => `stdin:${n}: is of account ${other}, which --account does not name\n`);
  expect(err).toBe([...refused, 'stdin: 2 problems\n'].join(''));
  expect(await stored(table, keys.account(id))).toBeUndefined();
  expect((await admin(`import - --account ${id}`, { stdin: lines(accountLine(id)) })).exitCode).toBe(0);
});

describe('a file that is imported without --account', () => {
  const NOTE = 'ci\u001b[2J';
  async function planted() {
    const [id, other] = [newAccountId(), newAccountId()];
    const known = newAppKey();
    await admin('import -', { stdin: lines(accountLine(other), keyLine(other, known)) });
    const [appKey, hidden] = [newAppKey(), newAppKey()];
    const stdin = lines(
      accountLine(id),
      keyLine(id, appKey, { note: NOTE }),
      keyLine(other, known),
      keyLine(other, hidden),
    );
    const listed = [
      `Account ${id} Acme: 2 lines; permissions monit; new key ...${appKey.slice(-4)} (ci\\u001b[2J)\n`,
      `Account ${other}: 2 lines; new key ...${hidden.slice(-4)}\n`,
    ].join('');
    return { id, other, stdin, listed };
  }

  it('is summarized by account, also in a dry run: permissions and new keys', async () => {
    const { id, stdin, listed } = await planted();
    const dry = await admin('import - --dry-run', { stdin });
    expect(dry.err).toContain(listed);
    expect(await stored(table, keys.account(id))).toBeUndefined();
    const done = await admin('import -', { stdin });
    expect([done.exitCode, done.err.startsWith(listed)]).toEqual([0, true]);
  });

  it('is not summarized if --account names every account', async () => {
    const { id, other, stdin } = await planted();
    const { exitCode, err } = await admin(`import - --account ${id} --account ${other}`, { stdin });
    expect([exitCode, err]).toEqual([0, expect.not.stringContaining('new key')]);
  });

  /** Imports on a stack. The first question is answered with yes, further ones with the given answer. */
  async function onStack(answer: string, ...more: string[]) {
    const { id, stdin, listed } = await planted();
    const folder = mkdtempSync(join(tmpdir(), 'import-'));
    const file = join(folder, 'data.ndjson');
    writeFileSync(file, stdin);
    const aws = await startFakeAws({ name: 'Service', outputs: { TableName: table.name, AccountPlanId: 'plan' } });
    const leave = aws.enter();
    const input = new PassThrough();
    const questions: string[] = [];
    const result = await runCommand(['import', file, '--stack', 'Service', '--region', 'eu-west-1', ...more], {
      terminal: true,
      stdin: input,
      onErr(text) {
        if (!text.includes('Continue?')) return;
        questions.push(text);
        input.write(questions.length === 1 ? 'y\n' : `${answer}\n`);
      },
    });
    leave();
    aws.close();
    return { ...result, listed, questions: questions.length, account: await stored(table, keys.account(id)) };
  }

  it('is written to AWS only after a second question, which follows the summary', async () => {
    const refused = await onStack('n');
    expect([refused.exitCode, refused.questions, refused.account]).toEqual([1, 2, undefined]);
    expect(refused.err.indexOf('Continue?', refused.err.indexOf('new key'))).toBeGreaterThan(0);
    expect(refused.err).toMatch(/Nothing was written\.\n$/);
    const taken = await onStack('y');
    expect([taken.exitCode, taken.questions, taken.account?.name]).toEqual([0, 2, 'Acme']);
  });

  it('is written without a question with --yes', async () => {
    const { exitCode, questions, account } = await onStack('n', '--yes');
    expect([exitCode, questions, account?.name]).toEqual([0, 0, 'Acme']);
  });
});

describe('an app key belongs to the account that it was first stored for', () => {
  it.each(['the key', 'its hash'])(
    'so that an import of %s for another account is refused with the number of its line',
    async (what) => {
      const { id, appKey } = await imported();
      const other = newAccountId();
      const stolen =
        what === 'the key'
          ? keyLine(other, appKey)
          : { kind: 'app_key', account_id: other, app_key_hash: hashAppKey(appKey), last_digits: 'aaaa' };
      const { exitCode, err } = await admin('import -', { stdin: lines(accountLine(other), stolen) });
      expect([exitCode, err]).toEqual([1, 'stdin:2: the key belongs to another account: issue a new one\n']);
      expect(await callerOf(appKey)).toMatchObject({ accountId: id });
      expect(await stored(table, keys.account(other))).toBeUndefined();
    },
  );

  it('even if that account stores it while the file is checked', async () => {
    const appKey = newAppKey();
    const [first, second] = [newAccountId(), newAccountId()];
    const slow = connectAgain(table);
    let raced = false;
    aroundCalls(slow, async ({ command }, send) => {
      if (/Transact|Update|Put/.test(command) && !raced) {
        raced = true;
        await loadData(table, 'test', [lines(accountLine(first)), lines(keyLine(first, appKey))], { nowSeconds: 1 });
      }
      return send();
    });
    await expect(
      loadData(slow, 'test', [lines(accountLine(second)), lines(keyLine(second, appKey))], { nowSeconds: 1 }),
    ).rejects.toThrow(/belongs to another account/);
    expect(await callerOf(appKey)).toMatchObject({ accountId: first });
  });

  it('and changes of another account never touch it, even if that account lists it', async () => {
    const { id, appKey } = await imported();
    const other = newAccountId();
    const own = newAppKey();
    await admin('import -', { stdin: lines(accountLine(other), keyLine(other, own)) });
    // As a fault of an older version could have left it: account `other` lists the key of account `id`.
    const row = await stored(table, keys.account(other));
    await put(table, keys.account(other), { ...row, app_keys: new Set([hashAppKey(own), hashAppKey(appKey)]) });
    await admin(`account revoke ${other} monit`);
    expect(await callerOf(appKey)).toMatchObject({ accountId: id, permissions: ['monit'] });
    await admin(`account suspend ${other}`);
    expect(await callerOf(appKey)).toMatchObject({ accountId: id });
    expect((await admin(`app-key revoke ${idOf(appKey)} --account ${other}`)).exitCode).toBe(1);
    expect((await admin(`app-key list --account ${other}`)).out).not.toContain(idOf(appKey));
  });
});

describe('the import of an earlier export does not undo', () => {
  it('a revocation', async () => {
    const { id, appKey, exported } = await imported();
    const before = await exported();
    await admin(`app-key revoke ${idOf(appKey)} --account ${id}`);
    expect((await admin('import -', { stdin: before })).exitCode).toBe(0);
    expect(await callerOf(appKey)).toBeUndefined();
  });

  it('a suspension, even with suspended: false; `account unsuspend` ends it', async () => {
    const { id, appKey } = await imported();
    await admin(`account suspend ${id}`);
    await admin('import -', { stdin: lines(accountLine(id, { suspended: false })) });
    expect(await callerOf(appKey)).toBeUndefined();
    await admin(`account unsuspend ${id}`);
    expect(await callerOf(appKey)).toBeDefined();
  });

  it('an earlier expiry that a rotation has set', async () => {
    const { id, appKey, exported } = await imported();
    const before = await exported();
    await admin(`app-key rotate ${idOf(appKey)} --account ${id} --overlap 1h`);
    await admin('import -', { stdin: before });
    await admin('import -', { stdin: lines(keyLine(id, appKey, { expires_at: 4_000_000_000 })) });
    expect(await callerOf(appKey, Date.now() + 2 * HOUR_MS)).toBeUndefined();
    expect(await callerOf(appKey)).toBeDefined();
  });

  it('a deletion of a work item, and says so; `work-item restore` undoes it', async () => {
    const { id } = await imported();
    const deleted = itemLine(id, { version: 2, deleted_at_ms: 5, deleted_by: 'k' });
    await admin('import -', { stdin: lines(deleted) });
    const again = await admin('import -', { stdin: lines(itemLine(id)) });
    expect(again.exitCode).toBe(0);
    expect(again.out).toBe('Imported 1 work item; 1 of them remains deleted.\n');
    expect(await stored(table, keys.workItem(id, 'w'))).toMatchObject({ version: 2, deleted_at_ms: 5 });
    await admin(`work-item restore w --account ${id}`);
    await admin('import -', { stdin: lines(itemLine(id, { version: 7 })) });
    expect(await stored(table, keys.workItem(id, 'w'))).toMatchObject({ version: 7 });
  });

  it('a later change, if the line has the time of an earlier one; a line without a time is written', async () => {
    const { id } = await imported();
    const titled = async (title: string, more: object = {}) => {
      expect((await admin('import -', { stdin: lines(itemLine(id, { title, ...more })) })).exitCode).toBe(0);
      return (await stored(table, keys.workItem(id, 'w'))).title;
    };
    expect(await titled('later', { at_ms: 2_000 })).toBe('later');
    expect(await titled('earlier', { at_ms: 1_000 })).toBe('later');
    expect(await titled('as of now')).toBe('as of now');
  });

  it('a deletion of the RUM resource; `rum restore` undoes it', async () => {
    const { id } = await imported();
    const record = {
      ...{ kind: 'rum_resource', account_id: id, product: 'rum', version: 'free', status: 'enabled', offering_id: 1 },
      ...{ order_id: 'o', resource_id: 'r', resource_name: 'n', created_at: 1, updated_at: 1, window_start_time: 1 },
      ...{ window_end_time: 2, 'action.days': 1, 'error.days': 1, 'long_task.days': 1, 'resource.days': 1 },
      ...{ 'session.days': 1, 'view.days': 1, 'session_investigate.free_cnt': 1, 'session_measure.free_cnt': 1 },
      'session_replay.free_cnt': 1,
    };
    await admin('import -', { stdin: lines({ ...record, deleted: true }) });
    for (const kept of [record, { ...record, deleted: false }]) {
      expect((await admin('import -', { stdin: lines(kept) })).out).toContain('1 of them remains deleted');
      expect(await stored(table, keys.rumResource(id))).toMatchObject({ deleted: true });
    }
    expect((await admin(`rum restore --account ${id}`)).out).toBe(`RUM resource of account ${id} restored.\n`);
    expect(await stored(table, keys.rumResource(id))).not.toHaveProperty('deleted');
    expect((await admin('import -', { stdin: lines(record) })).out).toBe('Imported 1 RUM resource.\n');
  });
});

it('makes a retired host active again, with its stored status', async () => {
  const { id } = await imported();
  const host = { kind: 'host', account_id: id, host_id: 'h' };
  const inventory = { ...host, agent_version: '1', edge_cluster: 'c', enabled: true, snapshot_ready: true };
  const graph = { node_count: 1, edge_count: 1, authoritative: true, graph_available: true };
  const flags = { snapshot_truncated: false, snapshot_degraded: false };
  const status = { ...host, kind: 'host_status', received_at_ms: Date.now(), ...graph, ...flags };
  expect((await admin('import -', { stdin: lines(inventory, status) })).exitCode).toBe(0);
  await admin(`host retire --account ${id} --stale-for 0s --yes`);
  expect(await stored(table, keys.hostStatus(id, 'h'))).toHaveProperty('ttl');
  await admin('import -', { stdin: lines(inventory) });
  expect(await stored(table, keys.hostStatus(id, 'h'))).not.toHaveProperty('ttl');
});
