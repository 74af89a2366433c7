/** Imported data is not trusted: a file takes nothing from another account, and undoes no revocation, suspension or deletion. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newAccountId, RUM_RECORD } from '../../../../test/support/accounts.ts';
import { newAppKey, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { enterFakeAws } from '../support/aws.ts';
import { accountLine, lines } from '../support/data-lines.ts';
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

/** An account that was imported with a key. */
async function imported() {
  const [id, appKey] = [newAccountId(), newAppKey()];
  expect((await importLines(accountLine(id), keyLine(id, appKey))).exitCode).toBe(0);
  return { id, appKey };
}

describe('an import', async () => {
  await enterFakeAws({ name: 'Service', outputs: { TableName: table.name, AccountPlanId: 'plan' } });

  /** Lines of a new account and of an existing one, and the summary of what they would grant. */
  async function planted() {
    const { id: other, appKey: known } = await imported();
    const [id, appKey, hidden] = [newAccountId(), newAppKey(), newAppKey()];
    const ownKey = keyLine(id, appKey, { note: 'ci\u001b[2J' });
    const stdin = lines(accountLine(id), ownKey, keyLine(other, known), keyLine(other, hidden));
    const listed = [
      `Account ${id} Acme: 2 lines; permissions monit; new key ...${appKey.slice(-4)} (ci\\u001b[2J)\n`,
      `Account ${other}: 2 lines; new key ...${hidden.slice(-4)}\n`,
    ].join('');
    return { id, other, stdin, listed, account: () => stored(table, keys.account(id)) };
  }

  it('is not summarized if --account names every account; otherwise it is refused', async () => {
    const { id, other, stdin, account } = await planted();
    const refused = [3, 4].map((n) => `stdin:${n}: is of account ${other}, which --account does not name\n`);
    const err = [...refused, 'stdin: 2 problems\n'].join('');
    expect(await admin(`import - --account ${id}`, { stdin })).toEqual({ exitCode: 1, out: '', err });
    expect(await account()).toBeUndefined();
    const done = await admin(`import - --account ${id} --account ${other}`, { stdin });
    expect([done.exitCode, done.err]).toEqual([0, expect.not.stringContaining('new key')]);
    expect(await account()).toMatchObject({ name: 'Acme' });
  });

  it.each([
    ['y', '', { exitCode: 0, questions: 2 }],
    ['n', '', { exitCode: 1, questions: 2, err: expect.stringMatching(/Nothing was written\.\n$/) }],
    ['n', '--yes', { exitCode: 0, questions: 0 }],
  ])(
    'is written to AWS only after a second question, which follows a summary by account: %s %s',
    async (answer, option, expected) => {
      const { stdin, listed, account } = await planted();
      const file = join(mkdtempSync(join(tmpdir(), 'import-')), 'data.ndjson');
      writeFileSync(file, stdin);
      const input = new PassThrough();
      let questions = 0;
      const args = `import ${file} --stack Service --region eu-west-1 ${option}`.trim().split(' ');
      const result = await runCommand(args, {
        ...{ terminal: true, stdin: input },
        onErr(text) {
          if (!text.includes('Continue?')) return;
          questions += 1;
          input.write(questions === 1 ? 'y\n' : `${answer}\n`);
        },
      });
      expect({ ...result, questions }).toMatchObject(expected);
      expect(result.err).toContain(listed);
      expect((await account())?.name).toBe(result.exitCode === 0 ? 'Acme' : undefined);
    },
  );
});

describe('an app key belongs to the account that it was first stored for', () => {
  it('so that an import of it for another is refused', async () => {
    const { id, appKey } = await imported();
    const other = newAccountId();
    const err = 'stdin:2: the key belongs to another account: issue a new one\n';
    const stolen = { kind: 'app_key', account_id: other, app_key_hash: hashAppKey(appKey), last_digits: 'a' };
    expect(await importLines(accountLine(other), stolen)).toEqual({ exitCode: 1, out: '', err });
    expect(await callerOf(appKey)).toMatchObject({ accountId: id });
    expect(await stored(table, keys.account(other))).toBeUndefined();
  });

  it('and changes of another account never touch it, even if that account lists it', async () => {
    const [{ id, appKey }, { id: other, appKey: otherKey }] = [await imported(), await imported()];
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

describe('an import does not undo', () => {
  it('a suspension, nor an earlier expiry that a rotation has set; `account unsuspend` ends the suspension', async () => {
    const { id, appKey } = await imported();
    const before = (await admin(`export --account ${id}`)).out;
    await admin(`app-key rotate ${idOf(appKey)} --account ${id} --overlap 1h`);
    await admin(`account suspend ${id}`);
    await admin('import -', { stdin: before });
    await importLines(accountLine(id, { suspended: false }), keyLine(id, appKey, { expires_at: 4_000_000_000 }));
    expect(await callerOf(appKey)).toBeUndefined();
    await admin(`account unsuspend ${id}`);
    expect(await callerOf(appKey)).toBeDefined();
    expect(await callerOf(appKey, Date.now() + 2 * HOUR_MS)).toBeUndefined();
  });

  /** For each kind: a line, the deletion, its key, what differs in a line that has an effect after the restoration, and that effect. */
  const record = { kind: 'rum_resource', ...RUM_RECORD };
  const item = { kind: 'work_item', work_item_id: 'w', version: 1, title: 't' };
  const deletion = { version: 2, deleted_at_ms: 1_790_000_000_000 };
  it.each([
    ['work item', 'work-item restore w', item, deletion, (id: number) => keys.workItem(id, 'w'), { version: 7 }],
    ['RUM resource', 'rum restore', record, { deleted: true }, keys.rumResource, { resource_name: 'renamed' }],
  ] as const)('the deletion of a %s, and says so; `%s` does', async (_what, command, line, deleted, keyOf, later) => {
    const { id } = await imported();
    const key = keyOf(id);
    const load = async (more: object) => (await importLines({ ...line, account_id: id, ...more })).out;
    await load(deleted);
    for (const kept of [{}, ...('deleted' in deleted ? [{ deleted: false }] : [])]) {
      expect(await load(kept)).toMatch(/^Imported 1 .*; 1 line changed nothing, /);
      expect(await stored(table, key)).toMatchObject(deleted);
    }
    expect((await admin(`${command} --account ${id}`)).out).toMatch(/ restored/);
    expect(await stored(table, key)).not.toMatchObject(deleted);
    expect(await load(later)).toMatch(/^Imported 1 [^;]*\.\n$/);
    expect(await stored(table, key)).toMatchObject(later);
  });
});
