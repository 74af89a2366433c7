/** Imported data is not trusted: a file takes nothing from another account, and undoes no revocation, suspension or deletion. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { keys } from '../../../../lib/table/keys.ts';
import type { AuditEntry } from '../../../../lib/table/rows.ts';
import { newAccountId, RUM_RECORD } from '../../../../test/support/accounts.ts';
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
const importLines = (...records: object[]) => admin('import -', { stdin: lines(...records) });

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
  await enterFakeAws({ Service: { outputs: { TableName: table.name, AccountPlanId: 'plan' } } });

  /** Lines of a new account and of an existing one, and the summary of what they would grant. */
  async function planted() {
    const { id: other, appKey: known } = await imported();
    const [id, appKey, hidden] = [newAccountId(), newAppKey(), newAppKey()];
    const ownKey = keyLine(id, appKey, { note: 'ci\u001b[2J' });
    const stdin = lines(accountLine(id), ownKey, keyLine(other, known), keyLine(other, hidden));
    const listed = [
      `Account ${id} Acme: 2 lines; new account; new permissions monit; new key ${idOf(appKey)} ...${appKey.slice(-4)} (ci\\u001b[2J)\n`,
      `Account ${other}: 2 lines; new key ${idOf(hidden)} ...${hidden.slice(-4)}\n`,
    ].join('');
    return { id, other, stdin, listed, account: () => stored(table, keys.account(id)) };
  }

  /** Imports lines to AWS on a terminal. @param answer to the second question; to the first it is yes */
  async function onAws(stdin: string, options: string, answer: string) {
    const file = join(mkdtempSync(join(tmpdir(), 'import-')), 'data.ndjson');
    writeFileSync(file, stdin);
    const input = new PassThrough();
    let questions = 0;
    const args = `import ${file} --stack Service --region eu-west-1 ${options}`.trim().split(' ');
    const result = await runCommand(args, {
      ...{ terminal: true, stdin: input },
      onErr(text) {
        if (!text.includes('Continue?')) return;
        questions += 1;
        input.write(questions === 1 ? 'y\n' : `${answer}\n`);
      },
    });
    return { ...result, questions };
  }

  it('of another account than --account names is refused', async () => {
    const { id, other, stdin, account } = await planted();
    const refused = [3, 4].map((n) => `stdin:${n}: is of account ${other}, which --account does not name\n`);
    const err = [...refused, 'stdin: 2 problems\n'].join('');
    expect(await admin(`import - --account ${id}`, { stdin })).toEqual({ exitCode: 1, out: '', err });
    expect(await account()).toBeUndefined();
  });

  it('whose file grants nothing asks no second question if --account names its accounts', async () => {
    const { id } = await imported();
    const result = await onAws(lines(itemLine(id)), `--account ${id}`, 'n');
    expect(result).toMatchObject({ exitCode: 0, questions: 1, err: expect.not.stringContaining(`Account ${id}`) });
  });

  const declined = { exitCode: 1, questions: 2, err: expect.stringMatching(/Nothing was written\.\n$/) };
  it.each([
    ['y', '', { exitCode: 0, questions: 2 }],
    ['n', '', declined],
    ['n', '--account ID --account OTHER', declined],
    ['y', '--account ID --account OTHER', { exitCode: 0, questions: 2 }],
    ['n', '--yes', { exitCode: 0, questions: 0 }],
  ])(
    'is written to AWS only after a second question, which follows a summary by account: %s %s',
    async (answer, option, expected) => {
      const { id, other, stdin, listed, account } = await planted();
      const result = await onAws(stdin, option.replace('ID', String(id)).replace('OTHER', String(other)), answer);
      expect(result).toMatchObject(expected);
      expect(result.err).toContain(`This writes to table ${table.name} of AWS account 123456789012 in eu-west-1.\n`);
      expect(result.err).toContain(listed);
      expect((await account())?.name).toBe(result.exitCode === 0 ? 'Acme' : undefined);
    },
  );

  it('says what it changes of an account and of its keys, before it does', async () => {
    const { id, appKey } = await imported();
    const [expiring, lost] = [newAppKey(), newAppKey()];
    await importLines(keyLine(id, expiring, { expires_at: 4_000_000_000, note: 'old' }), keyLine(id, lost));
    const stdin = lines(
      accountLine(id), // the last line of an account or a key decides
      accountLine(id, { name: 'Acme Ltd', permissions: ['feed'], suspended: true }),
      ...[keyLine(id, appKey, { revoked: true }), keyLine(id, appKey)],
      keyLine(id, expiring, { expires_at: 3_000_000_000, note: 'new' }),
      keyLine(id, lost), // nothing
    );
    const changes = [
      ...['was named Acme', 'new permissions feed', 'loses the permissions monit', 'is suspended'],
      ...[`key ${idOf(appKey)} ...${appKey.slice(-4)}, revoked`],
      `key ${idOf(expiring)} ...${expiring.slice(-4)} (new), expires 2065-01-24 05:20:00 UTC`,
    ];
    const err = expect.stringContaining(`Account ${id} Acme Ltd: 6 lines; ${changes.join('; ')}\n`);
    expect(await admin(`import - --account ${id} --dry-run`, { stdin })).toMatchObject({ exitCode: 0, err });
    expect(await stored(table, keys.account(id))).toMatchObject({ name: 'Acme', permissions: ['monit'] });
    expect(await admin(`import - --account ${id}`, { stdin })).toMatchObject({ exitCode: 0, err });
    const again = (await admin(`import - --dry-run`, { stdin })).err;
    expect(again).toContain(`Account ${id} Acme Ltd: 6 lines\n`);
    expect(await stored(table, keys.account(id))).toMatchObject({ permissions: ['feed'], suspended: true });
  });

  it('leaves a row in the audit for each account, suspension and key that it changes, with its event, and none when it is repeated', async () => {
    const { id, appKey } = await imported();
    const [added, dead] = [newAppKey(), newAppKey()];
    const revoking = lines(
      accountLine(id, { suspended: true }),
      ...[keyLine(id, appKey, { revoked: true }), keyLine(id, added), keyLine(id, dead, { revoked: true })],
    );
    for (let times = 0; times < 2; times += 1) await admin('import -', { stdin: revoking });
    const entries: AuditEntry[] = JSON.parse((await admin(`audit --account ${id} --json`)).out);
    const shown = entries.map(({ command, target, result, event, event_detail }) => [
      ...[command, target, result, event, event_detail],
    ]);
    const key = (appKey: string, event?: string) => [
      ...['import', `key ${idOf(appKey)}`, 'done'],
      ...(event ? [event, { app_key_id: idOf(appKey) }] : [undefined, undefined]),
    ];
    const file = ['import', '-', 'done', undefined, undefined];
    expect(shown.toSorted()).toEqual(
      [
        ...[file, file, file], // that of the account, too
        ['import', 'permissions: monit', 'done', undefined, undefined],
        ['import', undefined, 'done', 'AccountSuspended', undefined],
        ...[key(appKey, 'AppKeyIssued'), key(appKey, 'AppKeyRevoked'), key(added, 'AppKeyIssued'), key(dead)],
      ].toSorted(),
    );
  });
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
      expect(await load(kept)).toMatch(/^Imported nothing; 1 line changed nothing, /);
      expect(await stored(table, key)).toMatchObject(deleted);
    }
    expect((await admin(`${command} --account ${id}`)).out).toMatch(/ restored/);
    expect(await stored(table, key)).not.toMatchObject(deleted);
    expect(await load(later)).toMatch(/^Imported 1 [^;]*\.\n$/);
    expect(await stored(table, key)).toMatchObject(later);
  });
});
