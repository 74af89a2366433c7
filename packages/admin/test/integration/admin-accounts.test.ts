import { beforeEach, describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/http/app-keys.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { everythingIn, newAppKey, newTable, put, stored, testDeps } from '../../../../test/support/service.ts';
import { putAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, putAppKey, rotateAppKey } from '../../accounts/app-key-admin.ts';
import { timeText } from '../../text/printable.ts';
import { enterFakeAws } from '../support/aws.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const DAY_MS = 86_400_000;

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
async function issue(account: number, ...more: string[]): Promise<string> {
  const { out } = await admin(['app-key', 'issue', '--account', String(account), ...more]);
  return out.trim();
}

/** An account with the permission `monit`, and an app key of it. */
const test = it.extend('id', () => newAccount()).extend('appKey', ({ id }) => issue(id));

describe('an account', () => {
  it('is created with its gateway key, shown, and listed', async () => {
    const id = newAccountId();
    const create = ['account', 'create', String(id), '--name', 'Acme Corp', '--permission', 'monit'];
    expect((await admin([...create, '--dry-run'])).exitCode).toBe(0);
    expect(await accountRow(id)).toBeUndefined();
    expect(await admin(create)).toEqual({ exitCode: 0, out: `Account ${id} created.\n`, err: '' });
    const row = await accountRow(id);
    expect(row).toMatchObject({ name: 'Acme Corp', permissions: ['monit'], gateway_key: expect.any(String) });
    const shown = JSON.parse((await admin(`account show ${id} --json`)).out);
    expect(shown).toEqual({
      ...{ account_id: id, name: 'Acme Corp', permissions: 'monit', state: 'active' },
      ...{ gateway_key: 'attached', app_keys: 0 },
    });
    const list = JSON.parse((await admin('account list --json')).out);
    expect(list).toContainEqual(shown);
    expect((await admin('account list')).out).toMatch(new RegExp(`^${id} +Acme Corp +monit +active +0$`, 'm'));
  });

  it('is completed by the same command after a failure, and not overwritten by a different one', async () => {
    const id = await newAccount([]); // without a gateway key: `account create` failed after it had stored the account
    expect((await admin(`account create ${id} --name Acme`)).exitCode).toBe(0);
    const row = await accountRow(id);
    expect(row).toHaveProperty('gateway_key');
    for (const [options, err] of [
      ['--name Other', `Account ${id} already exists, with the name "Acme".\n`],
      ['--name Acme --permission monit', expect.stringContaining(`Account ${id} already exists`)],
    ])
      expect(await admin(`account create ${id} ${options}`)).toEqual({ exitCode: 1, out: '', err });
    expect(await accountRow(id)).toEqual(row);
  });

  it('copies granted and revoked permissions to its keys', async () => {
    const id = await newAccount([]);
    const appKey = await issue(id);
    expect((await callerOf(appKey))?.permissions).toEqual([]);
    expect((await admin(`account grant ${id} monit`)).out).toBe(`Account ${id} has permissions: monit; active.\n`);
    expect((await callerOf(appKey))?.permissions).toEqual(['monit']);
    await admin(`account revoke ${id} monit`);
    expect((await callerOf(appKey))?.permissions).toEqual([]);
  });

  it('has a random secret of 256 bits, with which the cursors of its keys are signed', async () => {
    const secrets = new Set<string>();
    for (const id of [await newAccount(), await newAccount()]) {
      const { cursor_secret: secret } = await accountRow(id);
      expect(secret).toHaveLength(32);
      expect((await callerOf(await issue(id)))?.cursorSecret).toEqual(secret);
      secrets.add(Buffer.from(secret).toString('hex'));
    }
    expect(secrets.size).toBe(2);
  });

  test('is suspended and unsuspended with all its keys', async ({ id, appKey }) => {
    await admin(`account suspend ${id}`);
    expect(await callerOf(appKey)).toBeUndefined();
    expect(await callerOf(await issue(id))).toBeUndefined();
    expect((await admin(`account show ${id}`)).out).toMatch(/state +suspended/);
    await admin(`account unsuspend ${id}`);
    expect(await callerOf(appKey)).toBeDefined();
  });
});

describe('an app key', () => {
  test('is not rotated if it is revoked meanwhile', async ({ id, appKey }) => {
    const account = await accountRow(id);
    const old = { hash: hashAppKey(appKey) };
    await admin(`app-key revoke ${idOf(appKey)} --account ${id}`); // after the key was read for the rotation
    const identity = identityOfAppKey(newAppKey());
    const rotating = rotateAppKey(table, account, old, { identity, details: { created_at: 1 } }, 4_000_000_000);
    await expect(rotating).rejects.toThrow('the key has just been changed');
    expect(await stored(table, keys.appKey(identity.hash))).toBeUndefined();
  });

  test('keeps the times of its creation and revocation if it is stored again', async ({ id }) => {
    const identity = identityOfAppKey(newAppKey());
    const putAt = async (created_at: number, revoked_at: number) =>
      putAppKey(table, await accountRow(id), identity, { created_at, revoked_at });
    await putAt(5, 6);
    await putAt(7, 8);
    expect(await stored(table, keys.appKey(identity.hash))).toMatchObject({ created_at: 5, revoked_at: 6 });
  });

  test('is printed once, alone on stdout, and is neither in the table nor in any list', async ({ id }) => {
    const issuedMs = Date.now();
    const { out, err, exitCode } = await admin(
      ['app-key', 'issue', '--account', String(id), '--expires', '90d', '--note', 'deploy pipeline'],
      { now: () => issuedMs },
    );
    const appKey = out.trim();
    expect([exitCode, appKey]).toEqual([0, expect.stringMatching(/^[\w-]{43}$/)]);
    expect(await callerOf(appKey)).toMatchObject({ accountId: id, permissions: ['monit'] });
    const text = await admin(`app-key list --account ${id}`);
    const [listed] = JSON.parse((await admin(`app-key list --account ${id} --json`)).out);
    expect(JSON.stringify([err, text, listed, await everythingIn(table)])).not.toContain(appKey);
    expect(listed).toMatchObject({
      ...{ app_key_id: idOf(appKey), last_digits: `…${appKey.slice(-4)}`, state: 'valid', note: 'deploy pipeline' },
      expires_at: expect.stringContaining(new Date(issuedMs + 90 * DAY_MS).toISOString().slice(0, 10)),
    });
  });

  test('is revoked by its id or the beginning of it, and keeps the time of its first revocation', async ({
    id,
    appKey,
  }) => {
    expect((await admin(`app-key revoke ${idOf(appKey).slice(0, 8)} --account ${id}`)).exitCode).toBe(0);
    expect(await callerOf(appKey)).toBeUndefined();
    const revoked = await keyRow(appKey);
    await admin(`app-key revoke ${idOf(appKey)} --account ${id}`, { now: () => Date.now() + 60_000 });
    expect(await keyRow(appKey)).toMatchObject({ revoked_at: revoked.revoked_at });
    expect((await admin(`app-key list --account ${id}`)).out).toContain('revoked');
  });

  test.for(['revoke', 'rotate'])(
    'must be named by at least 8 characters of its id to %s it, so that an empty id names none',
    async (verb, { id, appKey }) => {
      const runWithIdOfLength = (length: number) =>
        admin(['app-key', verb, idOf(appKey).slice(0, length), '--account', String(id)]);
      const err = 'Give at least 8 characters of the id.\n';
      for (const length of [0, 7]) expect(await runWithIdOfLength(length)).toEqual({ exitCode: 1, out: '', err });
      expect((await runWithIdOfLength(8)).exitCode).toBe(0);
    },
  );

  test('is rotated: the new one is valid at once, the old one for the overlap', async ({ id }) => {
    const old = await issue(id, '--note', 'ci');
    const { out } = await admin(`app-key rotate ${idOf(old)} --account ${id} --overlap 2h`);
    const fresh = out.trim();
    for (const appKey of [old, fresh]) expect(await callerOf(appKey)).toBeDefined();
    const afterOverlap = Date.now() + 2 * 3_600_000 + 1_000;
    expect(await callerOf(old, afterOverlap)).toBeUndefined();
    expect(await callerOf(fresh, afterOverlap)).toBeDefined();
    const list = JSON.parse((await admin(`app-key list --account ${id} --json`)).out) as { note: string }[];
    expect(list.map(({ note }) => note)).toEqual(['ci', 'ci']);
  });

  test('is rotated to one with the same lifetime, unless given another', async ({ id }) => {
    const startMs = Date.now();
    const rotate = async (appKey: string, afterDays: number, ...more: string[]) => {
      const now = () => startMs + afterDays * DAY_MS;
      const { out } = await admin(['app-key', 'rotate', idOf(appKey), '--account', String(id), ...more], { now });
      return out.trim();
    };
    /** Days from the start until the key expires. */
    const expiryOf = async (appKey: string) => ((await keyRow(appKey)).expires_at * 1_000 - startMs) / DAY_MS;
    const first = await issue(id, '--expires', '90d');
    const second = await rotate(first, 30);
    expect(await expiryOf(second)).toBeCloseTo(120);
    // Rotated again, the old key has only the overlap left, which is not its lifetime.
    expect(await expiryOf(await rotate(first, 30.5))).toBeCloseTo(120.5);
    expect(await expiryOf(await rotate(second, 40, '--expires', '7d'))).toBeCloseTo(47);
    const unlimited = await rotate(second, 40.5, '--expires', 'never');
    expect(await keyRow(unlimited)).not.toHaveProperty('expires_at');
    expect(await keyRow(await rotate(unlimited, 41))).not.toHaveProperty('expires_at');
  });

  test('keeps its earlier expiry if it is rotated, and is not rotated once it is revoked', async ({ id }) => {
    const old = await issue(id, '--expires', '1h');
    const { expires_at } = await keyRow(old);
    const planned = await admin(`app-key rotate ${idOf(old)} --account ${id} --overlap 24h --dry-run`);
    expect(planned.err).toContain(`would expire ${timeText(Number(expires_at) * 1000)}`);
    await admin(`app-key rotate ${idOf(old)} --account ${id} --overlap 24h`);
    expect(await keyRow(old)).toMatchObject({ expires_at });
    await admin(`app-key revoke ${idOf(old)} --account ${id}`);
    expect(await admin(`app-key rotate ${idOf(old)} --account ${id}`)).toEqual({
      ...{ exitCode: 1, out: '', err: expect.stringMatching(/^Key \w{16} is revoked/) },
    });
  });

  test('is refused beyond the 5,000th of an account', async ({ id }) => {
    const hashes = Array.from({ length: 5_000 }, (_, index) => hashAppKey(String(index)));
    await put(table, keys.account(id), { ...(await accountRow(id)), app_keys: new Set(hashes) });
    const err = `Account ${id} has 5000 app keys, which is the maximum.\n`;
    expect(await admin(`app-key issue --account ${id}`)).toEqual({ exitCode: 1, out: '', err });
  });
});

describe('wrong use', () => {
  const NO_OBJECT_ID = /It must have 24 hexadecimal digits\./;
  it.each([
    ['account create x --name n', /It must be a positive integer\./],
    ['account create 5', /required option '--name <name>' not specified/],
    ['account grant 5 monti', /It must be one of: monit, feed\./],
    ['app-key issue --account 5 --expires soon', /It must be a duration such as 30s, 10m, 24h or 90d\./],
    [`app-key issue --account 5 --note ${'n'.repeat(513)}`, /It must have 0 to 512 characters\./],
    ['show incident 5 --account 5', NO_OBJECT_ID],
    ['merge undo 5 1 --account 5', NO_OBJECT_ID],
    ['merge finish 5 1 --account 5', NO_OBJECT_ID],
    [`account create 5 --name ${'\u{1f525}'.repeat(513)}`, /It must have 1 to 512 characters\./],
    [`merge undo ${'a'.repeat(24)} x --account 5`, /It must be the number that `show incident` shows\./],
    ['show fleet --account 5 --jsno', /unknown option '--jsno'/],
    ['gateway-keys remove', /^Only AWS has gateway keys to remove: pass --table and --region\./],
  ])('%s: exit code 2 and one line, with at most a suggestion after it', async (command, line) => {
    const { exitCode, out, err } = await admin(command);
    expect([exitCode, out, err]).toEqual([2, '', expect.stringMatching(line)]);
    expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(2); // a suggestion may follow
  });

  it.each([
    'account show 7',
    'account suspend 7',
    'app-key issue --account 7',
    'app-key list --account 7',
    'show fleet --account 7',
    'work-item restore wi-1 --account 7',
    `merge undo ${'a'.repeat(24)} 5 --account 7`,
    'host retire --account 7 --stale-for 30d',
  ])('%s of a missing account: exit code 1 and what to do', async (command) => {
    const err = 'Account 7 does not exist: `account list` shows all accounts.\n';
    expect(await admin(command)).toEqual({ exitCode: 1, out: '', err });
  });

  it.each<[args: string, exitCode: number, line: RegExp]>([
    ['account list --endpoint http://127.0.0.1:9', 1, /does not respond \(ECONNREFUSED\)/],
    ['account list --endpoint nonsense', 2, /^--endpoint must be a URL/],
    ['account list --endpoint localhost:8000', 2, /^--endpoint must be a URL, such as .*\.\n$/],
    ['account list --endpoint ftp://id:secret@host', 2, /^(?!.*secret)--endpoint must be a URL/],
    ['account list --stack s --table t', 2, /^--stack already names the table/],
    ['account list --region eu-west-1', 2, /^--region alone names no table/],
    ['account list --service http://127.0.0.1:1 --table t', 2, /^--service already names the table/],
    ['account list --service http://127.0.0.1:1 --stack s', 2, /^--service already names the table/],
    ['account list --service http://127.0.0.1:1 --region r', 2, /^--service already names the table/],
    ['account list --service http://127.0.0.1:1', 2, /^No `npm start` service is running at/],
    ['account suspend 5 --endpoint http://192.0.2.1', 2, /^This writes to table .*\nPass --yes/],
    ['account list --endpoint LOCAL --table nope', 1, /^Table not found: check --stack, --table, .*\n$/],
    ['', 2, /Example:\n {2}\$ npm run --silent admin -- /],
    ['account', 2, /Example:\n {2}\$ npm run --silent admin -- /],
  ])('"%s": exit code %i and what to do', async (args, exitCode, line) => {
    const words = args.replace('LOCAL', dynamodbEndpoint()).split(' ').filter(Boolean);
    expect(await runCommand(words)).toEqual({
      exitCode,
      out: '',
      err: expect.stringMatching(line),
    });
  });

  it('prefers --service to DYNAMODB_ENDPOINT', async () => {
    const env = { DYNAMODB_ENDPOINT: dynamodbEndpoint() };
    const { err } = await runCommand(['account', 'list', '--service', 'http://127.0.0.1:1'], { env });
    expect(err).toMatch(/^No `npm start` service is running at/);
  });
});

describe('on AWS', async () => {
  const aws = await enterFakeAws({ name: 'Service', outputs: { TableName: table.name, AccountPlanId: 'plan' } });
  beforeEach(() => aws.resetGateway());
  const onStack = (command: string) => [...command.split(' '), '--stack', 'Service', '--region', 'eu-west-1'];

  it('creates an account with a gateway key in the usage plan of the stack, after saying where', async () => {
    const id = newAccountId();
    const { exitCode, err } = await runCommand(onStack(`account create ${id} --name Acme --yes`));
    expect(err).toBe(`This writes to table ${table.name} of AWS account 123456789012 in eu-west-1.\n`);
    expect(exitCode).toBe(0);
    const { gateway_key: value } = await accountRow(id);
    expect(aws.gateway.keys).toEqual([{ id: 'id0', name: `${table.name}-account-${id}`, value }]);
    expect(aws.gateway.attached).toEqual(['id0']);
  });

  it('asks before it writes, and writes nothing if the answer is no', async () => {
    const id = newAccountId();
    const answered = (stdin: string) =>
      runCommand(onStack(`account create ${id} --name Acme`), { terminal: true, stdin });
    const err = expect.stringMatching(/Continue\? \[y\/N\].*Nothing was written\.\n$/s);
    expect(await answered('n\n')).toMatchObject({ exitCode: 1, err });
    expect(await accountRow(id)).toBeUndefined();
    expect(await answered('y\n')).toMatchObject({ exitCode: 0 });
    expect(await accountRow(id)).toBeDefined();
  });

  it('reports a missing stack', async () => {
    const err = expect.stringContaining('Stack with id Other does not exist');
    const args = ['account', 'list', '--stack', 'Other', '--region', 'eu-west-1'];
    expect(await runCommand(args)).toMatchObject({ exitCode: 1, err });
  });
});
