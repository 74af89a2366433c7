import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../../lib/auth/app-keys.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { aroundCalls } from '../../../../test/support/faults.ts';
import {
  connectAgain,
  everythingIn,
  newAppKey,
  newTable,
  put,
  stored,
  testDeps,
} from '../../../../test/support/service.ts';
import { changeAccount, putAccount } from '../../accounts/accounts.ts';
import { identityOfAppKey, putAppKey, rotateAppKey } from '../../accounts/app-key-admin.ts';
import { ACME, ALERTS, ENTRY, INCIDENT, makeAcme } from '../support/acme.ts';
import { startFakeAws } from '../support/aws.ts';
import { adminOf, commandsWith, runCommand } from '../support/run-admin.ts';

const table = await newTable();
const admin = adminOf(table);

/** The caller of a key, as a function finds it that has not cached the key. */
const callerOf = (appKey: string) => createAppKeys(testDeps(table)).find(appKey);
const everything = () => everythingIn(table);

async function newAccount(permissions: string[] = ['monit']): Promise<number> {
  const id = newAccountId();
  await putAccount(table, { account_id: id, name: 'Acme', permissions });
  return id;
}
async function issue(account: number, ...more: string[]): Promise<string> {
  const { out } = await admin(['app-key', 'issue', '--account', String(account), ...more]);
  return out.trim();
}
const idOf = (appKey: string) => hashAppKey(appKey).slice(0, 16);

describe('an account', () => {
  it('is created with its gateway key, shown, and listed', async () => {
    const id = newAccountId();
    const created = await admin(['account', 'create', String(id), '--name', 'Acme Corp', '--permission', 'monit']);
    expect(created).toEqual({ exitCode: 0, out: `Account ${id} created.\n`, err: '' });
    const row = await stored(table, keys.account(id));
    expect(row).toMatchObject({ name: 'Acme Corp', permissions: ['monit'], gateway_key: expect.any(String) });
    const shown = JSON.parse((await admin(`account show ${id} --json`)).out);
    expect(shown).toMatchObject({ account_id: id, name: 'Acme Corp', permissions: 'monit', state: 'active' });
    expect(JSON.stringify(shown)).not.toContain(row.gateway_key);
    const list = JSON.parse((await admin('account list --json')).out) as { account_id: number }[];
    expect(list.filter(({ account_id }) => account_id === id)).toEqual([shown]);
    expect((await admin('account list')).out).toMatch(new RegExp(`^${id} +Acme Corp +monit +active +0$`, 'm'));
  });

  it('is completed by the same command after a failure, and not overwritten by a different one', async () => {
    const id = newAccountId();
    await putAccount(table, { account_id: id, name: 'Acme', permissions: [] }); // the first run ended here
    expect((await admin(`account create ${id} --name Acme`)).exitCode).toBe(0);
    expect(await stored(table, keys.account(id))).toHaveProperty('gateway_key');
    const renamed = await admin(`account create ${id} --name Other`);
    expect(renamed.exitCode).toBe(1);
    expect(renamed.err).toBe(`Account ${id} already exists, with the name "Acme".\n`);
    expect((await admin(`account create ${id} --name Acme --permission monit`)).exitCode).toBe(1);
    expect((await stored(table, keys.account(id))).permissions).toEqual([]);
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
      const { cursor_secret: secret } = await stored(table, keys.account(id));
      expect(secret).toHaveLength(32);
      expect((await callerOf(await issue(id)))?.cursorSecret).toEqual(secret);
      secrets.add(Buffer.from(secret).toString('hex'));
    }
    expect(secrets.size).toBe(2);
  });

  it('is suspended and unsuspended with all its keys', async () => {
    const id = await newAccount();
    const appKey = await issue(id);
    await admin(`account suspend ${id}`);
    expect(await callerOf(appKey)).toBeUndefined();
    expect(await callerOf(await issue(id))).toBeUndefined();
    expect((await admin(`account show ${id}`)).out).toMatch(/state +suspended/);
    await admin(`account unsuspend ${id}`);
    expect(await callerOf(appKey)).toBeDefined();
  });

  it('keeps all of many concurrent changes', async () => {
    const id = await newAccount([]);
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        changeAccount(connectAgain(table), id, ({ permissions }) => ({ permissions: [...permissions, `p${index}`] })),
      ),
    );
    const { permissions, revision } = await stored(table, keys.account(id));
    expect(new Set(permissions)).toEqual(new Set(Array.from({ length: 12 }, (_, index) => `p${index}`)));
    expect(revision).toBe(13);
  });

  it('does not leave a key with a revoked permission when key and account change concurrently', async () => {
    const id = await newAccount(['monit']);
    const account = await stored(table, keys.account(id));
    await changeAccount(table, id, () => ({ permissions: [] })); // after the account was read for the new key
    const appKey = newAppKey();
    await putAppKey(table, account, identityOfAppKey(appKey), { created_at: 1 });
    expect((await callerOf(appKey))?.permissions).toEqual([]);
  });

  it('does not overwrite the newer state of a key with an older one', async () => {
    const id = await newAccount(['monit']);
    const appKey = await issue(id);
    const slow = connectAgain(table);
    let held = true;
    aroundCalls(slow, async ({ command }, send) => {
      if (command === 'UpdateItemCommand' && held) {
        held = false;
        await changeAccount(table, id, () => ({ permissions: [] })); // overtakes the copying below
      }
      return send();
    });
    await changeAccount(slow, id, () => ({ permissions: ['monit', 'more'] }));
    expect((await callerOf(appKey))?.permissions).toEqual([]);
  });
});

describe('an app key', () => {
  it('is not rotated if it is revoked meanwhile', async () => {
    const id = await newAccount();
    const appKey = await issue(id);
    const account = await stored(table, keys.account(id));
    const old = { hash: hashAppKey(appKey) };
    await admin(`app-key revoke ${idOf(appKey)} --account ${id}`); // after the key was read for the rotation
    const identity = identityOfAppKey(newAppKey());
    const rotating = rotateAppKey(table, account, old, { identity, limits: { created_at: 1 } }, 4_000_000_000);
    await expect(rotating).rejects.toThrow('the key has just been changed');
    expect(await stored(table, keys.appKey(identity.hash))).toBeUndefined();
  });

  it('keeps the times of its creation and revocation if it is stored again', async () => {
    const id = await newAccount();
    const identity = identityOfAppKey(newAppKey());
    const putAt = async (created_at: number, revoked_at: number) =>
      putAppKey(table, await stored(table, keys.account(id)), identity, { created_at, revoked_at });
    await putAt(5, 6);
    await putAt(7, 8);
    expect(await stored(table, keys.appKey(identity.hash))).toMatchObject({ created_at: 5, revoked_at: 6 });
  });

  it('is printed once, alone on stdout, and is neither in the table nor in any list', async () => {
    const id = await newAccount();
    const issuedMs = Date.now();
    const { out, err, exitCode } = await admin(
      ['app-key', 'issue', '--account', String(id), '--expires', '90d', '--note', 'deploy pipeline'],
      { now: () => issuedMs },
    );
    const appKey = out.trim();
    expect(exitCode).toBe(0);
    expect(appKey).toMatch(/^[\w-]{43}$/);
    expect(err).not.toContain(appKey);
    expect(await callerOf(appKey)).toMatchObject({ accountId: id, permissions: ['monit'] });
    expect(await everything()).not.toContain(appKey);
    const text = await admin(`app-key list --account ${id}`);
    const [listed] = JSON.parse((await admin(`app-key list --account ${id} --json`)).out);
    expect(JSON.stringify([text, listed])).not.toContain(appKey);
    const inNinetyDays = new Date(issuedMs + 90 * 86_400_000).toISOString().slice(0, 10);
    expect(listed).toMatchObject({
      app_key_id: idOf(appKey),
      last_digits: `…${appKey.slice(-4)}`,
      state: 'valid',
      note: 'deploy pipeline',
      expires_at: expect.stringContaining(inNinetyDays),
    });
  });

  it('is revoked by its id or the beginning of it, and keeps the time of its first revocation', async () => {
    const id = await newAccount();
    const appKey = await issue(id);
    expect((await admin(`app-key revoke ${idOf(appKey).slice(0, 8)} --account ${id}`)).exitCode).toBe(0);
    expect(await callerOf(appKey)).toBeUndefined();
    const first = (await stored(table, keys.appKey(hashAppKey(appKey)))).revoked_at;
    await admin(['app-key', 'revoke', idOf(appKey), '--account', String(id)], { now: () => Date.now() + 60_000 });
    expect((await stored(table, keys.appKey(hashAppKey(appKey)))).revoked_at).toBe(first);
    expect((await admin(`app-key list --account ${id}`)).out).toContain('revoked');
  });

  it('is rotated: the new one is valid at once, the old one for the overlap', async () => {
    const id = await newAccount();
    const old = await issue(id, '--note', 'ci');
    const { out } = await admin(`app-key rotate ${idOf(old)} --account ${id} --overlap 2h`);
    const fresh = out.trim();
    expect(await callerOf(old)).toBeDefined();
    expect(await callerOf(fresh)).toBeDefined();
    const appKeysAt = (nowMs: number) => createAppKeys(testDeps(table, { now: () => nowMs }));
    const later = appKeysAt(Date.now() + 2 * 3_600_000 + 1_000);
    expect(await later.find(old)).toBeUndefined();
    expect(await later.find(fresh)).toBeDefined();
    const list = JSON.parse((await admin(`app-key list --account ${id} --json`)).out) as { note: string }[];
    expect(list.map(({ note }) => note)).toEqual(['ci', 'ci']);
  });

  it('is rotated to one with the same lifetime, unless given another', async () => {
    const id = await newAccount();
    const clockIn = (days: number) => ({ now: () => Date.now() + days * 86_400_000 });
    const expiryOf = async (appKey: string) => (await stored(table, keys.appKey(hashAppKey(appKey)))).expires_at;
    const rotate = async (appKey: string, days: number, ...more: string[]) =>
      (await admin(['app-key', 'rotate', idOf(appKey), '--account', String(id), ...more], clockIn(days))).out.trim();
    const inDays = (days: number) => Math.floor(Date.now() / 1000) + days * 86_400;
    const first = await issue(id, '--expires', '90d');
    const second = await rotate(first, 30);
    expect(Math.abs((await expiryOf(second)) - inDays(120))).toBeLessThan(300);
    // Rotated again, the old key has only the overlap left, which is not its lifetime.
    expect(Math.abs((await expiryOf(await rotate(first, 30.5))) - inDays(120.5))).toBeLessThan(300);
    expect(Math.abs((await expiryOf(await rotate(second, 40, '--expires', '7d'))) - inDays(47))).toBeLessThan(300);
    const lasting = await rotate(second, 40.5, '--expires', 'never');
    expect(await expiryOf(lasting)).toBeUndefined();
    expect(await expiryOf(await rotate(lasting, 41))).toBeUndefined();
  });

  it('keeps its earlier expiry if it is rotated, and is not rotated once it is revoked', async () => {
    const id = await newAccount();
    const old = await issue(id, '--expires', '1h');
    const { expires_at } = await stored(table, keys.appKey(hashAppKey(old)));
    await admin(`app-key rotate ${idOf(old)} --account ${id} --overlap 24h`);
    expect((await stored(table, keys.appKey(hashAppKey(old)))).expires_at).toBe(expires_at);
    await admin(`app-key revoke ${idOf(old)} --account ${id}`);
    const { exitCode, err } = await admin(`app-key rotate ${idOf(old)} --account ${id}`);
    expect(exitCode).toBe(1);
    expect(err).toMatch(/^Key \w{16} is revoked: issue a new one/);
  });

  it('is refused beyond the 5,000th of an account', async () => {
    const id = await newAccount();
    const hashes = Array.from({ length: 5_000 }, (_, index) => hashAppKey(String(index)));
    await put(table, keys.account(id), { ...(await stored(table, keys.account(id))), app_keys: new Set(hashes) });
    const { exitCode, out, err } = await admin(`app-key issue --account ${id}`);
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toBe(`Account ${id} has 5000 app keys, which is the maximum.\n`);
  });

  it('of another account is not found', async () => {
    const appKey = await issue(await newAccount());
    const other = await newAccount();
    const { exitCode, err } = await admin(`app-key revoke ${idOf(appKey)} --account ${other}`);
    expect(exitCode).toBe(1);
    expect(err).toContain(`Account ${other} has no key`);
    expect(await callerOf(appKey)).toBeDefined();
  });
});

describe('--dry-run', () => {
  it('writes nothing, whatever the command', async () => {
    const id = await newAccount();
    const appKey = await issue(id);
    await makeAcme(table);
    const before = await everything();
    const commands = [
      `account create ${newAccountId()} --name New`,
      `account grant ${id} monit`,
      `account revoke ${id} monit`,
      `account suspend ${id}`,
      `account unsuspend ${id}`,
      `app-key issue --account ${id}`,
      `app-key revoke ${idOf(appKey)} --account ${id}`,
      `app-key rotate ${idOf(appKey)} --account ${id}`,
      `fleet simulate --account ${id} --hosts 5`,
      `host retire --account ${id} --stale-for 30d`,
      `work-item restore wi-1001 --account ${ACME}`,
      `rum restore --account ${ACME}`,
      `merge alerts ${INCIDENT} ${ALERTS.join(' ')} --account ${ACME}`,
      `merge undo ${INCIDENT} ${ENTRY} --account ${ACME}`,
      'gateway-keys create',
    ];
    for (const command of commands) {
      const { exitCode, err } = await admin(`${command} --dry-run`);
      expect([command, exitCode]).toEqual([command, 0]);
      expect(err).toMatch(/^Dry run: nothing is written\.\n./);
      expect(JSON.parse((await admin(`${command} --dry-run --json`)).out)).toMatchObject({ dry_run: true });
    }
    // `import` follows below; commands for pending merges, and for AWS, have tests of their own.
    const elsewhere = ['import', 'merge finish', 'gateway-keys remove', 'relay replay'];
    const covered = commandsWith('--dry-run').filter((name) => commands.some((one) => one.startsWith(`${name}`)));
    expect([...covered, ...elsewhere].sort()).toEqual(commandsWith('--dry-run').sort());
    const { exitCode } = await admin('import - --dry-run', {
      stdin: `{"kind":"member","account_id":${id},"member_id":1,"name":"x"}\n`,
    });
    expect(exitCode).toBe(0);
    expect(await everything()).toBe(before);
  });
});

describe('wrong use', () => {
  it.each([
    ['account create x --name n', /It must be a positive integer\./],
    ['account create 5', /required option '--name <name>' not specified/],
    ['account grant 5 monti', /It must be one of: monit\./],
    ['account destroy 5', /unknown command 'destroy'/],
    ['app-key issue --account 5 --expires soon', /It must be a duration such as 30s, 10m, 24h or 90d\./],
    [`app-key issue --account 5 --note ${'n'.repeat(513)}`, /It must have 0 to 512 characters\./],
    ['app-key issue', /required option '--account <account>' not specified/],
    ['show incident 5 --account 5', /It must have 24 hexadecimal digits\./],
    ['merge undo 5 1 --account 5', /It must have 24 hexadecimal digits\./],
    ['merge finish 5 1 --account 5', /It must have 24 hexadecimal digits\./],
    [`account create 5 --name ${'\u{1f525}'.repeat(513)}`, /It must have 1 to 512 characters\./],
    [`merge undo ${'a'.repeat(24)} x --account 5`, /It must be the number that `show incident` shows\./],
    ['fleet simulate --account 5 --hosts 0', /It must be an integer from 1 to 1000000\./],
    ['fleet simulate --account 5 --hosts 1 --interval 0', /whole number of milliseconds/],
    ['show fleet --account 5 --jsno', /unknown option '--jsno'/],
  ])('%s: exit code 2 and one line', async (command, line) => {
    const { exitCode, out, err } = await admin(command);
    expect(exitCode).toBe(2);
    expect(out).toBe('');
    expect(err).toMatch(line);
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
    'fleet simulate --account 7 --hosts 5',
    'host retire --account 7 --stale-for 30d',
  ])('%s of a missing account: exit code 1 and what to do', async (command) => {
    const { exitCode, err } = await admin(command);
    expect([exitCode, err]).toEqual([1, 'Account 7 does not exist: `account list` shows all accounts.\n']);
  });

  it.each([
    [['account', 'list', '--endpoint', 'http://127.0.0.1:9'], 1, /does not respond \(ECONNREFUSED\)/],
    [['account', 'list', '--endpoint', 'nonsense'], 2, /^--endpoint must be a URL/],
    [['account', 'list', '--endpoint', 'localhost:8000'], 2, /^--endpoint must be a URL/],
    [['account', 'list', '--stack', 's', '--table', 't'], 2, /^--stack already names the table/],
    [['account', 'list', '--region', 'eu-west-1'], 2, /^--region alone names no table/],
    [['account', 'list', '--service', 'http://127.0.0.1:1', '--table', 't'], 2, /^--service already names the table/],
    [['account', 'list', '--service', 'http://127.0.0.1:1', '--stack', 's'], 2, /^--service already names the table/],
    [['account', 'list', '--service', 'http://127.0.0.1:1'], 2, /^No `npm start` service is running at/],
    [['account', 'suspend', '5', '--endpoint', 'http://192.0.2.1'], 2, /^This writes to table .*\nPass --yes/],
  ])('%j says what to do in one line', async (args, exitCode, line) => {
    const ended = await runCommand(args);
    expect(ended.exitCode).toBe(exitCode);
    expect(ended.err).toMatch(line);
  });

  it('prefers --service to DYNAMODB_ENDPOINT', async () => {
    const env = { DYNAMODB_ENDPOINT: dynamodbEndpoint() };
    const { err } = await runCommand(['account', 'list', '--service', 'http://127.0.0.1:1'], { env });
    expect(err).toMatch(/^No `npm start` service is running at/);
  });

  it('names a missing table', async () => {
    const { exitCode, err } = await runCommand([
      'account',
      'list',
      '--endpoint',
      dynamodbEndpoint(),
      '--table',
      'nope',
    ]);
    expect([exitCode, err]).toEqual([1, 'Table not found: check --stack, --table, --region and --endpoint.\n']);
  });

  it.each([[[]], [['account']], [['app-key']], [['show']], [['merge']], [['work-item']], [['fleet']]])(
    '%j shows the help, with an example',
    async (args) => {
      expect((await runCommand(args)).err).toContain('Example:\n  $ npm run --silent admin -- ');
    },
  );
});

describe('on AWS', () => {
  let aws: Awaited<ReturnType<typeof startFakeAws>>;
  let leave: () => void;
  beforeAll(async () => {
    aws = await startFakeAws({ name: 'Service', outputs: { TableName: table.name, AccountPlanId: 'plan' } });
    leave = aws.enter();
  });
  beforeEach(() => aws.forget());
  afterAll(() => {
    leave();
    aws.close();
  });
  const onStack = (...args: string[]) => [...args, '--stack', 'Service', '--region', 'eu-west-1'];

  it('creates an account with a gateway key in the usage plan of the stack, after saying where', async () => {
    const id = newAccountId();
    const { exitCode, err } = await runCommand(onStack('account', 'create', String(id), '--name', 'Acme', '--yes'));
    expect(err).toBe(`This writes to table ${table.name} of AWS account 123456789012 in eu-west-1.\n`);
    expect(exitCode).toBe(0);
    expect(aws.gateway.keys).toMatchObject([{ name: `${table.name}-account-${id}` }]);
    expect(aws.gateway.attached).toEqual(['id0']);
    expect((await stored(table, keys.account(id))).gateway_key).toBe(aws.gateway.keys[0]?.value);
  });

  it('asks before it writes, and writes nothing if the answer is no', async () => {
    const id = newAccountId();
    const answered = (stdin: string) =>
      runCommand(onStack('account', 'create', String(id), '--name', 'Acme'), { terminal: true, stdin });
    const refused = await answered('n\n');
    expect(refused.err).toContain('Continue? [y/N]');
    expect([refused.exitCode, refused.err.trimEnd().split('\n').at(-1)]).toEqual([
      1,
      expect.stringContaining('Nothing was written.'),
    ]);
    expect(await stored(table, keys.account(id))).toBeUndefined();
    expect((await answered('y\n')).exitCode).toBe(0);
    expect(await stored(table, keys.account(id))).toBeDefined();
  });

  it('reads without asking', async () => {
    const { exitCode, err } = await runCommand(onStack('account', 'list'));
    expect([exitCode, err]).toEqual([0, '']);
  });

  it('reports a missing stack', async () => {
    const { exitCode, err } = await runCommand(['account', 'list', '--stack', 'Other', '--region', 'eu-west-1']);
    expect(exitCode).toBe(1);
    expect(err).toContain('Stack with id Other does not exist');
  });
});
