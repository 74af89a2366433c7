/**
 * Imported data is not trusted: a file takes nothing from another account, and undoes no revocation, suspension or
 * deletion.
 */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newAccountId, RUM_RECORD } from '../../../../test/support/accounts.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { newAppKey, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { enterFakeAws } from '../support/aws.ts';
import { accountLine, itemLine, lines } from '../support/data-lines.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const HOUR_MS = 3_600_000;

const table = await newTable();
const admin = adminOf(table);

const keyLine = (account_id: number, app_key: string, more: object = {}) => ({
  ...{ kind: 'app_key', account_id, app_key, ...more },
});
const importLines = (...entities: object[]) => admin('import -', { stdin: lines(...entities) });

/** The caller of a key, as a function finds it that has not cached the key. */
const callerOf = (appKey: string, nowMs = Date.now()) =>
  createAppKeys(testDeps(table, { now: () => nowMs })).find(appKey);
const idOf = (appKey: string) => hashAppKey(appKey).slice(0, 16);

/** An account that was imported with a key, and what an export of it gives. */
async function imported() {
  const id = newAccountId();
  const appKey = newAppKey();
  expect((await importLines(accountLine(id), keyLine(id, appKey))).exitCode).toBe(0);
  return { id, appKey, exported: async () => (await admin(`export --account ${id}`)).out };
}

it('an import refuses lines of accounts that --account does not name, and creates one that it names', async () => {
  const [id, other] = [newAccountId(), newAccountId()];
  const stdin = lines(accountLine(id), accountLine(other), keyLine(other, newAppKey()));
  const refused = [2, 3].map((n) => `stdin:${n}: is of account ${other}, which --account does not name\n`);
  const err = [...refused, 'stdin: 2 problems\n'].join('');
  expect(await admin(`import - --account ${id}`, { stdin })).toEqual({ exitCode: 1, out: '', err });
  expect(await stored(table, keys.account(id))).toBeUndefined();
  expect((await admin(`import - --account ${id}`, { stdin: lines(accountLine(id)) })).exitCode).toBe(0);
});

describe('a file that is imported without --account', async () => {
  await enterFakeAws({ name: 'Service', outputs: { TableName: table.name, AccountPlanId: 'plan' } });

  /** Lines of a new account and of an existing one, and the summary of what they would grant. */
  async function planted() {
    const [id, other] = [newAccountId(), newAccountId()];
    const [known, appKey, hidden] = [newAppKey(), newAppKey(), newAppKey()];
    await importLines(accountLine(other), keyLine(other, known));
    const ownKey = keyLine(id, appKey, { note: 'ci\u001b[2J' });
    const stdin = lines(accountLine(id), ownKey, keyLine(other, known), keyLine(other, hidden));
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
    const { id, stdin } = await planted();
    const file = join(mkdtempSync(join(tmpdir(), 'import-')), 'data.ndjson');
    writeFileSync(file, stdin);
    const input = new PassThrough();
    let questions = 0;
    const result = await runCommand(['import', file, '--stack', 'Service', '--region', 'eu-west-1', ...more], {
      terminal: true,
      stdin: input,
      onErr(text) {
        if (!text.includes('Continue?')) return;
        questions += 1;
        input.write(questions === 1 ? 'y\n' : `${answer}\n`);
      },
    });
    return { ...result, questions, account: await stored(table, keys.account(id)) };
  }

  it('is written to AWS only after a second question, which follows the summary', async () => {
    const refused = await onStack('n');
    expect(refused).toMatchObject({ exitCode: 1, questions: 2, account: undefined });
    expect(refused.err).toMatch(/new key.*Continue\?.*Nothing was written\.\n$/s);
    expect(await onStack('y')).toMatchObject({ exitCode: 0, questions: 2, account: { name: 'Acme' } });
  });

  it('is written without a question with --yes', async () => {
    expect(await onStack('n', '--yes')).toMatchObject({ exitCode: 0, questions: 0, account: { name: 'Acme' } });
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
      const err = 'stdin:2: the key belongs to another account: issue a new one\n';
      expect(await importLines(accountLine(other), stolen)).toEqual({ exitCode: 1, out: '', err });
      expect(await callerOf(appKey)).toMatchObject({ accountId: id });
      expect(await stored(table, keys.account(other))).toBeUndefined();
    },
  );

  it('and changes of another account never touch it, even if that account lists it', async () => {
    const { id, appKey } = await imported();
    const other = newAccountId();
    const otherKey = newAppKey();
    await importLines(accountLine(other), keyLine(other, otherKey));
    // As a fault of an older version could have left it: account `other` lists the key of account `id`.
    const row = await stored(table, keys.account(other));
    await put(table, keys.account(other), { ...row, app_keys: new Set([hashAppKey(otherKey), hashAppKey(appKey)]) });
    for (const change of [`revoke ${other} monit`, `suspend ${other}`]) {
      await admin(`account ${change}`);
      expect(await callerOf(appKey)).toMatchObject({ accountId: id, permissions: ['monit'] });
    }
    expect((await admin(`app-key revoke ${idOf(appKey)} --account ${other}`)).exitCode).toBe(1);
    expect((await admin(`app-key list --account ${other}`)).out).not.toContain(idOf(appKey));
  });
});

describe('the import of an earlier export does not undo', () => {
  it('a suspension, even with suspended: false; `account unsuspend` ends it', async () => {
    const { id, appKey } = await imported();
    await admin(`account suspend ${id}`);
    await importLines(accountLine(id, { suspended: false }));
    expect(await callerOf(appKey)).toBeUndefined();
    await admin(`account unsuspend ${id}`);
    expect(await callerOf(appKey)).toBeDefined();
  });

  it('an earlier expiry that a rotation has set', async () => {
    const { id, appKey, exported } = await imported();
    const before = await exported();
    await admin(`app-key rotate ${idOf(appKey)} --account ${id} --overlap 1h`);
    await admin('import -', { stdin: before });
    await importLines(keyLine(id, appKey, { expires_at: 4_000_000_000 }));
    expect(await callerOf(appKey, Date.now() + 2 * HOUR_MS)).toBeUndefined();
    expect(await callerOf(appKey)).toBeDefined();
  });

  it('a deletion of a work item, and says so; `work-item restore` undoes it', async () => {
    const { id } = await imported();
    const deleted = itemLine(id, { version: 2, deleted_at_ms: 1_790_000_000_000, deleted_by: 'k' });
    await importLines(deleted);
    const again = await importLines(itemLine(id));
    expect(again.exitCode).toBe(0);
    expect(again.out).toMatch(/^Imported 1 work item; 1 line changed nothing, /);
    expect(await stored(table, keys.workItem(id, 'w'))).toMatchObject({ version: 2, deleted_at_ms: 1_790_000_000_000 });
    await admin(`work-item restore w --account ${id}`);
    await importLines(itemLine(id, { version: 7 }));
    expect(await stored(table, keys.workItem(id, 'w'))).toMatchObject({ version: 7 });
  });

  it('a later change, if the line has the time of an earlier one; a line without a time is written', async () => {
    const { id } = await imported();
    const titled = async (title: string, more: object = {}) => {
      expect((await importLines(itemLine(id, { title, ...more }))).exitCode).toBe(0);
      return (await stored(table, keys.workItem(id, 'w'))).title;
    };
    expect(await titled('later', { at_ms: Date.now() - 2_000 })).toBe('later');
    expect(await titled('earlier', { at_ms: Date.now() - HOUR_MS })).toBe('later');
    expect(await titled('as of now')).toBe('as of now');
  });

  it('a deletion of the RUM resource; `rum restore` undoes it', async () => {
    const { id } = await imported();
    const record = { kind: 'rum_resource', account_id: id, ...RUM_RECORD };
    await importLines({ ...record, deleted: true });
    for (const kept of [record, { ...record, deleted: false }]) {
      expect((await importLines(kept)).out).toContain('1 line changed nothing');
      expect(await stored(table, keys.rumResource(id))).toMatchObject({ deleted: true });
    }
    expect((await admin(`rum restore --account ${id}`)).out).toBe(`RUM resource of account ${id} restored.\n`);
    expect(await stored(table, keys.rumResource(id))).not.toHaveProperty('deleted');
    const renamed = { ...record, resource_name: 'renamed' };
    expect((await importLines(renamed)).out).toBe('Imported 1 RUM resource.\n');
    expect((await importLines(renamed)).out).toContain('1 line changed nothing');
  });
});

it('an import makes a retired host active again, without its status; a retirement from before does nothing', async () => {
  const { id } = await imported();
  const host = { kind: 'host', account_id: id, host_id: 'h' };
  const inventoryLine = { ...host, ...inventory() };
  const reportedMs = Date.now() - 2 * HOUR_MS;
  const reported = live({ received_at_ms: reportedMs, observed_at_ms: reportedMs });
  const status = { ...host, kind: 'host_status', ...reported };
  expect((await importLines(inventoryLine, status)).exitCode).toBe(0);
  const retire = `host retire --account ${id} --stale-for 0s --yes`;
  expect((await admin(retire)).out).toBe('1 host retired.\n');
  const rows = async () => [await stored(table, keys.host(id, 'h')), await stored(table, keys.hostStatus(id, 'h'))];
  expect(await rows()).toEqual([undefined, undefined]);
  await importLines(inventoryLine);
  expect(await rows()).toEqual([expect.anything(), undefined]);
  await importLines(status);
  const { out } = await importLines({ ...host, retired: true, at_ms: Date.now() - HOUR_MS });
  expect(out).toContain('1 line changed nothing');
  expect(await rows()).toEqual([expect.anything(), expect.anything()]);
});
