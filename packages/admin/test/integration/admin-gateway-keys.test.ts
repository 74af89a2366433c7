import { beforeEach, describe, expect, it } from 'vitest';
import { createAppKeys } from '../../../../lib/http/app-keys.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { everythingIn, newTable, stored, testDeps } from '../../../../test/support/service.ts';
import { enterFakeAws } from '../support/aws.ts';
import { runCommand } from '../support/run-admin.ts';

const table = await newTable();
const aws = await enterFakeAws({ Service: { outputs: { TableName: table.name, AccountPlanId: 'plan' } } });
const onAws = (command: string, ...place: string[]) =>
  runCommand([...command.split(' '), ...place, '--region', 'eu-west-1', '--yes']);
const onStack = (command: string) => onAws(command, '--stack', 'Service');
const onTable = (command: string) => onAws(command, '--table', table.name);
const gatewayKeyOf = async (id: number) => (await stored(table, keys.account(id))).gateway_key;
const nameOf = (id: number) => `${table.name}-account-${id}`;
const loseKeyOf = (id: number) => {
  aws.gateway.keys = aws.gateway.keys.filter(({ name }) => name !== nameOf(id));
};
/** What `cdk destroy` does: the usage plan goes, the keys stay. */
const destroyStack = () => {
  aws.gateway.attached = [];
};

/** An id that others begin with comes last, since API Gateway lists keys by the beginning of their names. */
const ACCOUNTS = [10, 2, 1];
/** Another API's key, and one of another stack's table, whose name begins with this one's. */
const OTHERS = [
  { id: 'of-others', name: 'account-1', value: 'v' },
  { id: 'of-another', name: `${nameOf(1)}-account-5`, value: 'w' },
];
for (const id of ACCOUNTS) await onStack(`account create ${id} --name Acme`);
const appKey = (await onTable('app-key issue --account 2')).out.trim();
const withoutAudit = async () =>
  (JSON.parse(await everythingIn(table)) as { pk: string }[]).filter(({ pk }) => !pk.includes('#AUDIT'));
const caller = () => createAppKeys(testDeps(table)).find(appKey);

beforeEach(async () => {
  aws.resetGateway();
  aws.gateway.keys.push(...OTHERS);
  expect((await onStack('gateway-keys create')).out).toBe('Gateway keys of 3 accounts exist.\n');
});

describe('gateway-keys create', () => {
  it('makes a key for each account and attaches it, one after the other, since API Gateway refuses concurrent changes', () => {
    expect(aws.gateway.keys.slice(2).map(({ name }) => name)).toEqual([1, 2, 10].map(nameOf));
    // API Gateway accepts 20 to 128 letters and digits; other characters are not documented.
    for (const { value } of aws.gateway.keys.slice(2)) expect(value).toMatch(/^[0-9a-f]{64}$/);
    const changes = aws.gateway.calls.filter((call) => call.startsWith('POST'));
    const ofOne = ['POST /apikeys', 'POST /usageplans/plan/keys'];
    expect(changes).toEqual([...ofOne, ...ofOne, ...ofOne]);
  });

  it('gives every account of an adopted table the existing key or a new one, and tries again while API Gateway is busy', async () => {
    const keyValueOf = (id: number) => aws.gateway.keys.find(({ name }) => name === nameOf(id))?.value;
    const kept = keyValueOf(1);
    destroyStack();
    loseKeyOf(2);
    aws.gateway.failures = ['ConflictException', 'TooManyRequestsException', 'ConflictException'];
    await onStack('gateway-keys create');
    expect(aws.gateway.attached).toHaveLength(3);
    expect([await gatewayKeyOf(1), await gatewayKeyOf(2)]).toEqual([kept, keyValueOf(2)]);
    expect(await caller()).toMatchObject({ gatewayKey: keyValueOf(2) });
  });

  it('keeps the keys of a table that was restored under another name, since the plan has them', async () => {
    const before = [...aws.gateway.keys];
    for (const key of before) key.name = key.name.replace(table.name, 'Before-The-Restore');
    expect((await onStack('gateway-keys create')).out).toBe('Gateway keys of 3 accounts exist.\n');
    expect(aws.gateway.keys).toEqual(before);
    expect(await gatewayKeyOf(2)).toBe(aws.gateway.keys.find(({ name }) => name.endsWith('-account-2'))?.value);
  });

  it('finds the keys of a restored table by their values, when their stack was destroyed too', async () => {
    destroyStack();
    for (const key of aws.gateway.keys) key.name = key.name.replace(table.name, 'Before-The-Restore');
    const before = structuredClone(aws.gateway.keys);
    aws.gateway.readFailures = ['', '', 'ConflictException'];
    await onStack('gateway-keys create');
    expect(aws.gateway.keys).toEqual(before);
    expect(aws.gateway.attached).toHaveLength(3);
  });

  it('makes keys of the values that the table has, as those of another region with its rows, where it only adds to the audit', async () => {
    const before = aws.gateway.keys.map(({ name, value }) => [name, value]);
    const rows = await withoutAudit();
    aws.resetGateway();
    aws.gateway.keys.push(...OTHERS);
    await onStack('gateway-keys create');
    expect(aws.gateway.keys.map(({ name, value }) => [name, value])).toEqual(before);
    expect(await withoutAudit()).toEqual(rows);
  });

  it('requires a stack, which has the usage plan', async () => {
    expect((await onTable('gateway-keys create')).err).toContain('Unknown usage plan: pass --stack NAME instead');
    const said = expect.stringContaining('No gateway key was created: pass --stack NAME');
    expect(await onTable('account create 1 --name Acme')).toMatchObject({ exitCode: 0, err: said });
  });
});

describe('gateway-keys remove', () => {
  it('deletes the keys of all accounts of a destroyed stack, and no others, and removes them from the table', async () => {
    destroyStack();
    expect((await onTable('gateway-keys remove --dry-run')).err).toContain('3 gateway keys would be deleted.\n');
    expect(aws.gateway.keys).toHaveLength(5);
    expect(await onTable('gateway-keys remove')).toMatchObject({ exitCode: 0, out: '3 gateway keys deleted.\n' });
    expect(aws.gateway.keys).toEqual(OTHERS);
    for (const id of ACCOUNTS) expect(await gatewayKeyOf(id)).toBeUndefined();
    expect(await caller()).not.toHaveProperty('gatewayKey');
  });

  it('deletes the keys of a table that was deleted with its stack, and fails if there are no keys either', async () => {
    const before = [...aws.gateway.keys];
    aws.gateway.keys.push({ id: 'of-gone', name: 'Preview-Table-account-1', value: 'x' });
    const remove = () => onAws('gateway-keys remove', '--table', 'Preview-Table');
    expect(await remove()).toMatchObject({ exitCode: 0, out: '1 gateway keys deleted.\n' });
    expect(aws.gateway.keys).toEqual(before);
    expect(await remove()).toMatchObject({ exitCode: 1, err: expect.stringContaining('Preview-Table') });
  });

  it('leaves a row in the audit of every account, even if it fails, and is completed by another run', async () => {
    const removals = async (id: number) =>
      JSON.parse((await onTable(`audit --account ${id} --json`)).out).filter(
        ({ command }: { command: string }) => command === 'gateway-keys remove',
      );
    const before = (await removals(1)).length;
    destroyStack();
    aws.gateway.failures = ['BadRequestException'];
    expect((await onTable('gateway-keys remove')).exitCode).toBe(1);
    loseKeyOf(1);
    expect((await onTable('gateway-keys remove')).out).toBe('2 gateway keys deleted.\n');
    const row = { by: 'arn:aws:sts::123456789012:assumed-role/Operator/ada', target: 'gateway key' };
    const [failed, done] = ['failed', 'done'].map((result) => ({ ...row, result }));
    for (const id of ACCOUNTS) expect((await removals(id)).slice(before)).toMatchObject([failed, done]);
    expect(await gatewayKeyOf(2)).toBeUndefined();
  });

  it('refuses while a usage plan uses one of the keys, since API Gateway would refuse the callers', async () => {
    // Its stack has adopted the table and not attached all keys yet.
    aws.gateway.attached = aws.gateway.attached.slice(-1);
    const err = expect.stringContaining('are in use by the usage plan plan: destroy its stack first.\n');
    expect(await onTable('gateway-keys remove')).toMatchObject({ exitCode: 1, err });
    expect(aws.gateway.keys).toHaveLength(5);
  });
});

it('account create and gateway-keys create ask for no key but those of the plan, and delete none', async () => {
  aws.gateway.calls.length = 0;
  await onStack('gateway-keys create');
  await onStack('account create 11 --name Acme');
  const paths = new Set(aws.gateway.calls.map((call) => call.replace(/id\d+/, 'ID')));
  expect([...paths].sort()).toEqual([
    'GET /usageplans/plan/keys',
    'GET /usageplans/plan/keys/ID',
    'POST /apikeys',
    'POST /usageplans/plan/keys',
  ]);
});
