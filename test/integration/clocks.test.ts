/** What holds even if the clocks of functions and of operators' computers are an hour apart, in either direction. */
import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet, getRumResource } from '../../lib/http/operations.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { newAccountId, newCaller } from '../support/accounts.ts';
import { RUM_RECORD } from '../support/rum.ts';
import {
  callAlone,
  connectAgain,
  type Handlers,
  handlersOver,
  NOW,
  newTable,
  put,
  stored,
  testDeps,
} from '../support/service.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

const table = await newTable();

/** New instances of the functions whose clocks stand still. */
const functionsAt = (nowMs: number) => handlersOver(testDeps(connectAgain(table), { now: () => nowMs }));

/** An account that an operator creates by one clock, and calls to functions whose clock shows another time. */
async function newTenantAt(operatorNow: number) {
  const id = newAccountId();
  const admin = async (command: string) => {
    const result = await adminOf(table)(command, { now: () => operatorNow });
    expect([result.exitCode, result.exitCode === 0 ? '' : result.err]).toEqual([0, '']);
    return result.out.trim();
  };
  await admin(`account create ${id} --name Acme --permission monit`);
  await put(table, keys.rumResource(id), RUM_RECORD);
  const keyId = async () => JSON.parse(await admin(`app-key list --account ${id} --json`))[0].app_key_id as string;
  const statusAt = async (functionNow: number, appKey: string) => {
    return (await callAlone(functionsAt(functionNow), getRumResource, { appKey, body: {} })).status;
  };
  return { id, admin, keyId, statusAt };
}

describe.each([
  ['behind', -HOUR],
  ['ahead of', HOUR],
])('functions whose clock is an hour %s the operator’s', (_which, skew) => {
  const operator = Date.now();
  const functions = operator + skew;

  it('let a key in as soon as it is issued or rotated, and not after it is revoked', async () => {
    const { id, admin, keyId, statusAt } = await newTenantAt(operator);
    const appKey = await admin(`app-key issue --account ${id} --expires 90d`);
    expect(await statusAt(functions, appKey)).toBe(200);
    const first = await keyId();
    expect(await statusAt(functions, await admin(`app-key rotate ${first} --account ${id}`))).toBe(200);
    await admin(`app-key revoke ${first} --account ${id}`);
    expect(await statusAt(functions, appKey)).toBe(401);
  });

  it('refuse a suspended account at once, and admit it again once unsuspended', async () => {
    const { id, admin, statusAt } = await newTenantAt(operator);
    const appKey = await admin(`app-key issue --account ${id}`);
    await admin(`account suspend ${id}`);
    expect(await statusAt(functions, appKey)).toBe(401);
    await admin(`account unsuspend ${id}`);
    expect(await statusAt(functions, appKey)).toBe(200);
  });

  it('expire a key by their own clock, at the time that the operator’s clock set', async () => {
    const { id, admin, statusAt } = await newTenantAt(operator);
    const appKey = await admin(`app-key issue --account ${id} --expires 2h`);
    const ends = Math.floor((operator + 2 * HOUR) / 1000) * 1000;
    expect(await statusAt(functions, appKey)).toBe(200);
    expect(await statusAt(ends - 1, appKey)).toBe(200);
    expect(await statusAt(ends, appKey)).toBe(401);
  });

  it('keep an import of an earlier export from reviving a key', async () => {
    const { id, admin, keyId, statusAt } = await newTenantAt(operator);
    const appKey = await admin(`app-key issue --account ${id}`);
    const before = await admin(`export --account ${id}`);
    await admin(`app-key revoke ${await keyId()} --account ${id}`);
    const { exitCode } = await adminOf(table)('import -', { stdin: `${before}\n`, now: () => functions });
    expect(exitCode).toBe(0);
    expect(await statusAt(functions, appKey)).toBe(401);
  });
});

describe('two functions whose clocks are an hour apart', () => {
  it('count exactly, each in the windows of its own clock, which also says when a refusal ends', async () => {
    const { account, appKey } = await newCaller(table);
    const clocks = [NOW, NOW - HOUR];
    const instances = clocks.map((nowMs) => functionsAt(nowMs));
    const call = (index: number) => callAlone(instances[index] as Handlers, browseFleet, { appKey, body: {} });
    const statuses = [[], []] as number[][];
    for (let round = 0; round < 3; round += 1)
      for (const index of [0, 1]) statuses[index]?.push((await call(index)).status);
    expect(statuses).toEqual([
      [200, 200, 429],
      [200, 200, 429],
    ]);
    for (const [index, nowMs] of clocks.entries()) {
      const { headers } = await call(index);
      expect(headers['Retry-After']).toBe('1');
      expect(headers['X-RateLimit-Reset']).toBe(String(nowMs / 1000 + 1));
      expect((await stored(table, keys.rateCount(account, browseFleet.name, nowMs / MINUTE))).total).toBe(2);
    }
  });
});
