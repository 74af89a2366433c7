import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { PERMISSIONS } from '../../../../lib/model/account.ts';
import { keys, partitions } from '../../../../lib/table/keys.ts';
import type { AuditEntry } from '../../../../lib/table/rows.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { connectionLost, intercepted } from '../../../../test/support/faults.ts';
import { ingestOver } from '../../../../test/support/ingest.ts';
import {
  everythingIn,
  newAppKey,
  newTable,
  put,
  stored,
  storedUnder,
  testDeps,
} from '../../../../test/support/service.ts';
import { changeAccount, putAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, rotateAppKey } from '../../accounts/app-key-admin.ts';
import { createAudit } from '../../cli/audit-trail.ts';
import { timeText } from '../../text/printable.ts';
import { type AdminOptions, adminOf, runCommand } from '../support/run-admin.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();

const table = await newTable();
const admin = adminOf(table);

/** The caller of a key, as a function finds it that has not cached the key. */
const callerOf = (appKey: string, nowMs = Date.now()) =>
  createAppKeys(testDeps(table, { now: () => nowMs })).find(appKey);
const accountRow = (id: number) => stored(table, keys.account(id));
const keyRow = (appKey: string) => stored(table, keys.appKey(hashAppKey(appKey)));
const idOf = (appKey: string) => hashAppKey(appKey).slice(0, 16);

async function newAccount(permissions: string[] = ['monit']): Promise<number> {
  const id = newAccountId();
  await putAccount(table, { account_id: id, name: 'Acme', permissions });
  return id;
}
/** Runs a command that prints only a key. */
const printedKey = async (args: string, options?: AdminOptions) => (await admin(args, options)).out.trim();
const issue = (account: number, more = '') => printedKey(`app-key issue --account ${account}${more}`);
const jsonOf = async (args: string) => JSON.parse((await admin(`${args} --json`)).out);

/** An account with the permission `monit`, and an app key of it. */
const test = it.extend('id', () => newAccount()).extend('appKey', ({ id }) => issue(id));

describe('an account', () => {
  it('is created with its gateway key, shown, and listed', async () => {
    const id = newAccountId();
    await admin(`account create ${id} --name Acme --permission monit --permission feed`);
    expect(await accountRow(id)).toMatchObject({ name: 'Acme', permissions: ['monit', 'feed'] });
    const shown = await jsonOf(`account show ${id}`);
    const state = { permissions: 'monit feed', state: 'active', gateway_key: 'attached', app_keys: 0 };
    const listed = { account_id: id, name: 'Acme', ...state };
    expect(shown).toEqual({ ...listed, keys: [], members: [], last_records: [] });
    expect(await jsonOf('account list')).toContainEqual(listed);
    expect((await admin('account list')).out).toMatch(
      new RegExp(`^${id} +Acme +monit feed +active +attached +0$`, 'm'),
    );
  });

  test('is shown with its keys and members, and the last record of each kind, so that a quiet sender is seen', async ({
    id,
    appKey,
  }) => {
    const member = { kind: 'member', account_id: id, name: 'Ada' };
    await ingestOver(table, () => NOW - DAY_MS).send({ ...member, member_id: 1 });
    await ingestOver(table, () => NOW - 60_000).send({ kind: 'host', account_id: id, host_id: 'h', retired: true });
    const imported = Array.from({ length: 51 }, (_, index) => JSON.stringify({ ...member, member_id: index + 2 }));
    await admin('import -', { stdin: imported.join('\n') }); // an import is no sign of a sender
    const show = (more = '') => admin(`account show ${id}${more}`, { now: () => NOW });
    const { keys: shownKeys, members, last_records } = JSON.parse((await show(' --json')).out);
    expect(shownKeys).toMatchObject([{ app_key_id: idOf(appKey), state: 'valid' }]);
    expect(shownKeys[0]).not.toHaveProperty('expires_at');
    expect(members).toHaveLength(52);
    expect(members).toContainEqual({ member_id: 1, name: 'Ada' });
    const [host, of] = [
      { kind: 'host', sent_at_ms: NOW - 60_000 },
      { kind: 'member', sent_at_ms: NOW - DAY_MS },
    ];
    expect(last_records).toEqual([host, of]);
    const { out } = await show();
    expect(out).toMatch(new RegExp(`^${idOf(appKey)} +…\\S{4} +valid +[-\\d]+ [:\\d]+ UTC +never$`, 'm'));
    expect(out).toMatch(/^host +\S+ \S+ UTC +1 minute$/m);
    expect(out).toMatch(/^member +\S+ \S+ UTC +1 day$/m);
    expect(out).toContain('and 2 more: --json shows all\n');
    expect(out).not.toContain(appKey);
  });

  it('is completed by the same command after a failure, and not overwritten by a different one', async () => {
    const id = await newAccount([]); // without a gateway key: `account create` failed after it had stored the account
    expect((await admin(`account create ${id} --name Acme`)).exitCode).toBe(0);
    const row = await accountRow(id);
    expect(row).toHaveProperty('gateway_key');
    for (const options of ['--name Other', '--name Acme --permission monit']) {
      const err = expect.stringContaining(`Account ${id} already exists, with`);
      expect(await admin(`account create ${id} ${options}`)).toEqual({ exitCode: 1, out: '', err });
    }
    expect(await accountRow(id)).toEqual(row);
  });

  test('gives its secret, its permissions and its suspension to its keys', async ({ id, appKey }) => {
    const { cursor_secret: secret } = await accountRow(id);
    expect([secret.length, (await callerOf(appKey))?.cursorSecret]).toEqual([32, secret]);
    expect((await accountRow(await newAccount())).cursor_secret).not.toEqual(secret);
    await admin(`account grant ${id} feed`);
    expect((await callerOf(appKey))?.permissions).toEqual(['monit', 'feed']);
    await admin(`account revoke ${id} monit feed`);
    expect((await callerOf(appKey))?.permissions).toEqual([]);
    await admin(`account suspend ${id}`);
    for (const key of [appKey, await issue(id)]) expect(await callerOf(key)).toBeUndefined();
    expect((await jsonOf(`account show ${id}`)).state).toBe('suspended');
    await admin(`account unsuspend ${id}`);
    expect(await callerOf(appKey)).toBeDefined();
  });
});

describe('an app key', () => {
  test('is not rotated if it is revoked meanwhile', async ({ id, appKey }) => {
    const account = await accountRow(id);
    await admin(`app-key revoke ${idOf(appKey)} --account ${id}`); // after the key was read for the rotation
    const identity = identityOfAppKey(newAppKey());
    const replacement = { identity, details: { created_at: 1 } };
    const rotating = rotateAppKey(table, account, { hash: hashAppKey(appKey) }, replacement, 4_000_000_000);
    await expect(rotating).rejects.toThrow('the key has just been changed');
    expect(await stored(table, keys.appKey(identity.hash))).toBeUndefined();
  });

  test('is printed once, alone on stdout, and is neither in the table and its audit nor in any list', async ({
    id,
  }) => {
    const args = `app-key issue --account ${id} --expires 90d --note pipeline`;
    const { out, err, exitCode } = await admin(args, { now: () => NOW });
    const appKey = out.trim();
    expect([exitCode, appKey]).toEqual([0, expect.stringMatching(/^[\w-]{43}$/)]);
    expect(await callerOf(appKey)).toMatchObject({ accountId: id, permissions: ['monit'] });
    const imported = JSON.stringify({ kind: 'app_key', account_id: id, app_key: `${appKey}2` });
    for (const stdin of [imported, imported.replace('account_id', 'account')]) await admin('import -', { stdin });
    const listed = await jsonOf(`app-key list --account ${id}`);
    expect(JSON.stringify([err, listed, await everythingIn(table)])).not.toContain(appKey);
    const expires_at = timeText(NOW + 90 * DAY_MS);
    const shown = { app_key_id: idOf(appKey), last_digits: appKey.slice(-4), state: 'valid', note: 'pipeline' };
    const created_at = Math.floor(NOW / 1_000);
    const times = { created_at, expires_at: created_at + 90 * 86_400 };
    expect(listed).toContainEqual(expect.objectContaining({ ...shown, ...times }));
    expect(err).toContain(`Its id is ${idOf(appKey)}; it expires ${expires_at}.`);
  });

  test('is revoked by the beginning of its id, and keeps the time of its first revocation', async ({ id, appKey }) => {
    const other = await issue(id);
    for (const now of [NOW, NOW + 60_000])
      await admin(`app-key revoke ${idOf(appKey).slice(0, 8)} --account ${id}`, { now: () => now });
    expect(await callerOf(appKey)).toBeUndefined();
    expect(await callerOf(other)).toBeDefined();
    expect(await keyRow(appKey)).toMatchObject({ revoked_at: Math.floor(NOW / 1_000) });
    const { err } = await admin(`app-key rotate ${idOf(appKey)} --account ${id}`);
    expect(err).toMatch(/^Key \w{16} is revoked: issue a new one/);
    const tooShort = await admin(['app-key', 'revoke', idOf(other).slice(0, 7), '--account', String(id)]);
    const err8 = expect.stringMatching(/It must have 8 to 64 characters\.\n$/);
    expect(tooShort).toMatchObject({ exitCode: 2, err: err8 });
  });

  test('is rotated: the new one is valid at once, the old one for the overlap or its own time', async ({ id }) => {
    const [old, short] = [await issue(id, ' --note ci'), await issue(id, ' --expires 1h')];
    const fresh = await printedKey(`app-key rotate ${idOf(old)} --account ${id} --overlap 2h`);
    for (const appKey of [old, fresh]) expect(await callerOf(appKey)).toBeDefined();
    const afterOverlap = Date.now() + 2 * 3_600_000 + 1_000;
    expect(await callerOf(old, afterOverlap)).toBeUndefined();
    expect(await callerOf(fresh, afterOverlap)).toBeDefined();
    const { expires_at } = await keyRow(short);
    await admin(`app-key rotate ${idOf(short)} --account ${id} --overlap 24h`);
    expect(await keyRow(short)).toMatchObject({ expires_at });
    const notes = (await jsonOf(`app-key list --account ${id}`)).map(({ note }: { note: string }) => note);
    expect(notes.sort()).toEqual(['ci', 'ci', undefined, undefined]);
  });

  test('is rotated to one with the same lifetime, unless given another', async ({ id }) => {
    const rotate = (appKey: string, afterDays: number, more = '') =>
      printedKey(`app-key rotate ${idOf(appKey)} --account ${id}${more}`, { now: () => NOW + afterDays * DAY_MS });
    /** Days until the key expires. */
    const expiryOf = async (appKey: string) => ((await keyRow(appKey)).expires_at * 1_000 - NOW) / DAY_MS;
    const first = await issue(id, ' --expires 90d');
    const second = await rotate(first, 30);
    expect(await expiryOf(second)).toBeCloseTo(120);
    // Rotated again, the old key has only the overlap left, which is not its lifetime.
    expect(await expiryOf(await rotate(first, 30.5))).toBeCloseTo(120.5);
    const unlimited = await rotate(second, 40, ' --expires never');
    expect(await keyRow(await rotate(unlimited, 41))).not.toHaveProperty('expires_at');
  });

  test('is refused beyond the 5,000th of an account', async ({ id }) => {
    const hashes = Array.from({ length: 5_000 }, (_, index) => hashAppKey(String(index)));
    await put(table, keys.account(id), { ...(await accountRow(id)), app_keys: new Set(hashes) });
    const err = `Account ${id} has 5000 app keys, which is the maximum.\n`;
    expect(await admin(`app-key issue --account ${id}`)).toEqual({ exitCode: 1, out: '', err });
  });
});

let last = 0;
/** A clock that never returns the same time twice, since audit rows are ordered by their time in milliseconds. */
const now = () => {
  last = Math.max(last + 1, Date.now());
  return last;
};
const ordered = (args: string, options?: AdminOptions) => admin(args, { now, ...options });
const rowsOf = (account: number): Promise<AuditEntry[]> => storedUnder(table, partitions.audit(account));
/** @returns an account with a key that a command has issued */
async function audited(): Promise<number> {
  const id = await newAccount();
  await ordered(`app-key issue --account ${id}`);
  return id;
}

it('the audit is shown since a given time, oldest first, as text and as JSON', async () => {
  const id = await audited();
  const daysAgo = (count: number) => ({ now: () => Date.now() - count * 86_400_000 });
  await ordered(`account suspend ${id}`, daysAgo(9));
  await ordered(`account unsuspend ${id}`, daysAgo(3));
  const { out } = await ordered(`audit --account ${id}`);
  expect(out).toMatch(/^time +by +command +target +result\n.* account unsuspend +done\n.* app-key issue +key /);
  const all = JSON.parse((await ordered(`audit --account ${id} --since 30d --json`)).out) as AuditEntry[];
  expect(all.map(({ command }) => command)).toEqual(['account suspend', 'account unsuspend', 'app-key issue']);
});

it('the audit shows that an entry was replaced by something that is none', async () => {
  const id = await audited();
  const [{ sk }] = await storedUnder(table, partitions.audit(id));
  await put(table, { pk: partitions.audit(id), sk }, {});
  const { out } = await ordered(`audit --account ${id} --since 30d`);
  expect(out).toMatch(/^time +command\nnot a time \(undefined\) +not an entry\n$/);
});

it('the audit has failed, interrupted and unfinished commands', async () => {
  const id = await audited();
  const latest = async () => (await rowsOf(id)).at(-1);
  expect((await ordered(`rum restore --account ${id}`)).exitCode).toBe(1);
  const detail = `Account ${id} has no deleted RUM resource.`;
  expect(await latest()).toMatchObject({ command: 'rum restore', result: 'failed', detail });
  const audit = createAudit(table, 'import', 'ada', now);
  await expect(audit.around([id], 'f', async () => AbortSignal.abort().throwIfAborted())).rejects.toThrow();
  expect(await latest()).toMatchObject({ result: 'failed', detail: 'Stopped before it finished.' });
  await audit.around([id], 'f', async () => expect((await latest())?.result).toBe('started'));
  expect((await latest())?.result).toBe('done');
});

it.each<[when: string, command: RegExp, which: number, isSuspended: boolean, recorded: string]>([
  ['before its transaction', /^TransactWrite/, 1, false, 'failed'],
  ['while it is copied to the keys', /^(Update|Put)/, 1, true, 'started'], // nor is the audit row replaced
  ['when it is to be told', /^TransactWrite/, 2, true, 'failed'],
])(
  'a suspension that fails %s is not told as done; the next one completes it, and tells it once',
  async (_when, command, which, isSuspended, recorded) => {
    const id = await audited();
    const before = (await rowsOf(id)).length;
    let count = 0;
    const broken = intercepted(table, async (send, { name }) => {
      if (command.test(name)) count += 1;
      if (command.test(name) && count >= which) throw connectionLost();
      return send();
    });
    const suspending = createAudit(broken, 'account suspend', 'ada', now).inTransaction(
      id,
      '',
      (done, started) => changeAccount(broken, id, () => ({ suspended: true }), started, done),
      { event: 'AccountSuspended' },
    );
    await expect(suspending).rejects.toThrow('connection lost');
    expect((await stored(table, keys.account(id))).suspended ?? false).toBe(isSuspended);
    const untold = (await rowsOf(id)).slice(before);
    expect(untold.map(({ result, event }) => [result, event])).toEqual([[recorded, undefined]]);
    await Promise.all([1, 2].map(() => ordered(`account suspend ${id}`)));
    await ordered(`account suspend ${id}`);
    const told = (await rowsOf(id)).slice(before + untold.length).filter(({ result }) => result === 'done');
    expect(told).toMatchObject([{ command: 'account suspend', event: 'AccountSuspended' }]);
  },
);

const ID = 'a'.repeat(24);
it.each<[args: string, exitCode: number, err: RegExp]>([
  ['account grant 5 monti', 2, new RegExp(`It must be one of: ${PERMISSIONS.join(', ')}\\.`)],
  [`app-key issue --account 5 --note ${'n'.repeat(513)}`, 2, /It must have 0 to 512 characters\./],
  ['import .', 2, /^Cannot read \. \(EISDIR\): it is a folder; give a file\.\n$/],
  ['app-key issue --account 5 --expires 0d', 2, /It must be longer than 0\.\n$/],
  ['member --help', 2, /^error: unknown command 'member'/],
  ['merge nothing --help', 2, /^error: unknown command 'nothing'/],
  ['merge undo 5 1 --account 5', 2, /It must have 24 hexadecimal digits\.\n$/],
  [`merge undo ${ID} x --account 5`, 2, /It must be the number that `show incident` shows\./],
  ['relay replay', 2, /^Only a deployed stack has these dead letters: pass --stack NAME\.\n$/],
  ['gateway-keys remove', 2, /^Only AWS has gateway keys to remove: pass --table and --region\.\n$/],
  [`app-key revoke ${ID.slice(0, 8)} --account KNOWN`, 1, /^Account \d+ has no key aaaaaaaa: `app-key list` shows/],
  [`show incident ${ID} --account KNOWN`, 1, /^Account \d+ has no incident a{24}\.\n$/],
  ['show host x --account KNOWN', 1, /^Account \d+ has no host x\.\n$/],
  ['show work-item x --account KNOWN', 1, /^Account \d+ has no work item x\.\n$/],
  ['find EMPTY', 2, /^error: argument 'id' is empty\n$/],
  ['alert close EMPTY --account KNOWN', 2, /^error: argument 'alert' is empty\n$/],
  ['alert close --account KNOWN --key-prefix EMPTY', 2, /^error: option '--key-prefix <text>' is empty\n$/],
  ['feed drop --reason=', 2, /^error: option '--reason <text>' is empty\n$/],
  ['host list --account KNOWN --cluster EMPTY', 0, /^There are no such hosts\.\n$/],
  ['audit --account KNOWN --account 5', 2, /^error: option '--account <account>' is given twice\n$/],
  [`show host ${'x'.repeat(257)} --account KNOWN`, 2, /It must have 1 to 256 characters\.\n$/],
  ['show work-item EMPTY --account KNOWN', 2, /It must have 1 to 128 characters\.\n$/],
  [`work-item restore ${'x'.repeat(129)} --account KNOWN`, 2, /It must have 1 to 128 characters\.\n$/],
  ['account show 9223372036854775808', 2, /It must be an integer from 1 to 9223372036854775807\.\n$/],
  ['account list --stack s', 2, /^No valid region: pass --region or set AWS_REGION\.\n$/],
  ['account list --stack s --region eu_1', 2, /^No valid region: pass --region or set AWS_REGION\.\n$/],
  ['merge list --since 1h --pending', 2, /^error: option '--pending' cannot be used with option '--since <duration>'/],
  ['account list --endpoint http://127.0.0.1:9', 4, /does not respond \(ECONNREFUSED\)/],
  ['account list --endpoint ftp://id:secret@host', 2, /^(?!.*secret)--endpoint must be a URL, such as .*\.\n$/],
  ['account list --stack s --table t', 2, /^--stack already names the table/],
  ['account list --stack s --endpoint http://127.0.0.1:9', 2, /^--stack already names the table/],
  ['account list --region eu-west-1', 2, /^--region alone names no table/],
  ['account list --service http://127.0.0.1:1 --table t', 2, /^--service already names the table/],
  ['account list --service http://127.0.0.1:1', 2, /^No `npm start` service is running at/],
  ['account suspend 5 --endpoint http://192.0.2.1', 2, /^This writes to table .*\nPass --yes/],
  ['account list --endpoint LOCAL --table nope', 1, /^Table not found: check --stack, --table, .*\n$/],
  ['', 2, /Example:\n {2}\$ npm run --silent admin -- /],
])('"%s": exit code %i and what to do', async (args, exitCode, err) => {
  const words = args
    .replace('LOCAL', dynamodbEndpoint())
    .replace('KNOWN', String(await newAccount()))
    .split(' ')
    .filter(Boolean)
    .map((word) => word.replace('EMPTY', ''));
  const own = /--(endpoint|region|service|stack)|^$/.test(args);
  expect(await (own ? runCommand : admin)(words)).toEqual({ exitCode, out: '', err: expect.stringMatching(err) });
});

it('--service is preferred to DYNAMODB_ENDPOINT', async () => {
  const env = { DYNAMODB_ENDPOINT: dynamodbEndpoint() };
  const { err } = await runCommand(['account', 'list', '--service', 'http://127.0.0.1:1'], { env });
  expect(err).toMatch(/^No `npm start` service/);
});
