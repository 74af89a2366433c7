import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAppKeys } from '../../../../lib/auth/app-keys.ts';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { newTable, stored, testDeps } from '../../../../test/support/service.ts';
import { startFakeAws } from '../support/aws.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

let table: Table;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let leave: () => void;
beforeAll(async () => {
  table = await newTable();
  aws = await startFakeAws({ name: 'Service', outputs: { TableName: table.name, AccountPlanId: 'plan' } });
  leave = aws.enter();
  for (const id of [1, 2, 10])
    expect((await onStack('account', 'create', String(id), '--name', 'Acme')).exitCode).toBe(0);
});
beforeEach(async () => {
  aws.forget();
  aws.gateway.keys.push({ id: 'of-others', name: 'account-1', value: 'v' });
  // The table of another stack, whose name begins with this one's.
  aws.gateway.keys.push({ id: 'of-another', name: `${table.name}-account-1-account-5`, value: 'w' });
  expect((await onStack('gateway-keys', 'create')).out).toBe('Gateway keys of 3 accounts exist.\n');
});
afterAll(() => {
  leave();
  aws.close();
});

const onStack = (...args: string[]) => runCommand([...args, '--stack', 'Service', '--region', 'eu-west-1', '--yes']);
const onTable = (...args: string[]) => runCommand([...args, '--table', table.name, '--region', 'eu-west-1', '--yes']);
const gatewayKeyOf = async (id: number) => (await stored(table, keys.account(id))).gateway_key;
/** What `cdk destroy` does: the usage plan goes, the keys stay. */
const destroyStack = () => {
  aws.gateway.attached = [];
};
const others = ['of-others', 'of-another'];

describe('gateway-keys remove', () => {
  it('deletes the keys of all accounts of a destroyed stack, and no others, and removes them from the table', async () => {
    const appKey = (await onTable('app-key', 'issue', '--account', '2')).out.trim();
    expect(await createAppKeys(testDeps(table)).find(appKey)).toHaveProperty('gatewayKey');
    destroyStack();
    const { exitCode, out } = await onTable('gateway-keys', 'remove');
    expect([exitCode, out]).toEqual([0, '3 gateway keys deleted.\n']);
    expect(aws.gateway.keys.map(({ id }) => id)).toEqual(others);
    for (const id of [1, 2, 10]) expect(await gatewayKeyOf(id)).toBeUndefined();
    expect(await createAppKeys(testDeps(table)).find(appKey)).not.toHaveProperty('gatewayKey');
    expect((await onTable('gateway-keys', 'remove')).out).toBe('0 gateway keys deleted.\n');
  });

  it('deletes the keys of a table that was deleted with its stack, and fails if there are no keys either', async () => {
    aws.gateway.keys.push({ id: 'of-gone', name: 'Preview-Table-account-1', value: 'x' });
    const remove = () =>
      runCommand(['gateway-keys', 'remove', '--table', 'Preview-Table', '--region', 'eu-west-1', '--yes']);
    const { exitCode, out, err } = await remove();
    expect([exitCode, out, err]).toEqual([0, '1 gateway keys deleted.\n', expect.any(String)]);
    expect(aws.gateway.keys.map(({ id }) => id)).not.toContain('of-gone');
    expect(aws.gateway.keys).toHaveLength(5);
    expect(await remove()).toMatchObject({ exitCode: 1, err: expect.stringContaining('Preview-Table') });
  });

  it('leaves a row in the audit of every account, even if it fails', async () => {
    const entriesOf = async (id: number) =>
      JSON.parse((await onTable('audit', '--account', String(id), '--json')).out)
        .filter(({ command }: { command: string }) => command === 'gateway-keys remove')
        .slice(before);
    let before = 0;
    before = (await entriesOf(1)).length;
    destroyStack();
    aws.gateway.refuseDeletions = true;
    expect((await onTable('gateway-keys', 'remove')).exitCode).toBe(1);
    aws.gateway.refuseDeletions = false;
    expect((await onTable('gateway-keys', 'remove')).exitCode).toBe(0);
    for (const id of [1, 2, 10]) {
      const [failed, done, ...more] = await entriesOf(id);
      const by = 'arn:aws:sts::123456789012:assumed-role/Operator/ada';
      expect(failed).toMatchObject({ by, target: 'gateway key', result: 'failed', detail: expect.stringMatching(/./) });
      expect(done).toMatchObject({ by, target: 'gateway key', result: 'done' });
      expect(more).toEqual([]);
    }
    // A dry run leaves none.
    await onTable('gateway-keys', 'remove', '--dry-run');
    expect(await entriesOf(1)).toHaveLength(2);
  });

  it('completes an interrupted run when repeated', async () => {
    destroyStack();
    const [first] = aws.gateway.keys.filter(({ id }) => !others.includes(id));
    aws.gateway.keys = aws.gateway.keys.filter((key) => key !== first);
    expect((await onTable('gateway-keys', 'remove')).out).toBe('2 gateway keys deleted.\n');
    expect(await gatewayKeyOf(1)).toBeUndefined();
  });

  it('refuses while a usage plan uses one of the keys, since API Gateway would refuse the callers', async () => {
    // Its stack has adopted the table and not attached all keys yet.
    aws.gateway.attached = aws.gateway.attached.slice(-1);
    const { exitCode, err } = await onTable('gateway-keys', 'remove');
    expect(exitCode).toBe(1);
    expect(err).toContain('The gateway keys are in use by the usage plan plan: destroy its stack first.\n');
    expect(aws.gateway.keys).toHaveLength(5);
    expect(await gatewayKeyOf(1)).toBeDefined();
  });

  it('with --dry-run deletes nothing', async () => {
    destroyStack();
    expect((await onTable('gateway-keys', 'remove', '--dry-run')).err).toContain('3 gateway keys would be deleted.\n');
    expect(aws.gateway.keys).toHaveLength(5);
  });

  it('exits with 2 if the table is not on AWS', async () => {
    const { exitCode, err } = await adminOf(table)('gateway-keys remove');
    expect([exitCode, err]).toEqual([2, 'Only AWS has gateway keys to remove: pass --table and --region.\n']);
  });
});

describe('gateway-keys create', () => {
  it('gives every account of an adopted table a key in the new usage plan: the existing key or a new one', async () => {
    const [kept] = aws.gateway.keys.filter(({ name }) => name === `${table.name}-account-1`);
    destroyStack();
    aws.gateway.keys = aws.gateway.keys.filter(({ name }) => name !== `${table.name}-account-2`);
    expect((await onStack('gateway-keys', 'create', '--dry-run')).err).toContain('3 accounts would have a gateway key');
    expect(aws.gateway.attached).toEqual([]);
    expect((await onStack('gateway-keys', 'create')).out).toBe('Gateway keys of 3 accounts exist.\n');
    expect(aws.gateway.attached).toHaveLength(3);
    expect(await gatewayKeyOf(1)).toBe(kept?.value);
    expect(await gatewayKeyOf(2)).toBe(aws.gateway.keys.find(({ name }) => name === `${table.name}-account-2`)?.value);
  });

  it('makes and attaches one key after the other, since API Gateway refuses concurrent changes', () => {
    const changes = aws.gateway.calls.filter((call) => call.startsWith('POST'));
    const ofOne = ['POST /apikeys', 'POST /usageplans/plan/keys'];
    expect(changes).toEqual([...ofOne, ...ofOne, ...ofOne]);
  });

  it('requires a stack, which has the usage plan', async () => {
    const { exitCode, err } = await onTable('gateway-keys', 'create');
    expect(exitCode).toBe(2);
    expect(err).toContain('Unknown usage plan: pass --stack NAME instead of --table.\n');
  });
});
