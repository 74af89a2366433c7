import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTable, PATIENT, type Table } from '../../../../lib/dynamodb/client.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { getRow } from '../../../../lib/dynamodb/row.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newTable, put } from '../../../../test/support/service.ts';
import { startFailingTable } from '../../../local/failing-table.ts';
import { readAllAccounts } from '../../accounts/accounts.ts';
import { NoAnswerError, withPatience } from '../../local-service/patience.ts';
import { runCommand } from '../support/run-admin.ts';

/** Takes calls, and never answers. */
const mute = createServer(() => undefined);
let endpoint: string;
let table: Table;
beforeAll(async () => {
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  table = await newTable();
});
afterAll(() => {
  mute.closeAllConnections();
  mute.close();
});

const waited = (of: Table) => {
  let said = 0;
  const patient = withPatience(of, { sayMs: 500, endMs: 1_500, onWaiting: () => (said += 1) });
  return { ...patient, said: () => said };
};

describe('waiting for DynamoDB', () => {
  it('is said once, and ends with advice', async () => {
    const { table: patient, said } = waited(connectTable({ name: 't', endpoint, ...PATIENT }));
    const began = performance.now();
    await expect(getRow(patient, keys.account(1))).rejects.toThrow(NoAnswerError);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(said()).toBe(1);
  });

  it('ends also where calls are throttled and sent again', async () => {
    await put(table, keys.listedAccount(1), {});
    const proxy = await startFailingTable(dynamodbEndpoint(), ['throttle']);
    const throttled = connectTable({ name: table.name, endpoint: proxy.endpoint, ...PATIENT });
    const { table: patient } = waited(throttled);
    await expect(readAllAccounts(patient)).rejects.toThrow();
    await proxy.close();
  });

  it('is not said where answers come', async () => {
    const { table: patient, said, stop } = waited(table);
    for (const began = performance.now(); performance.now() - began < 800; ) await getRow(patient, keys.account(1));
    stop();
    expect(said()).toBe(0);
  });

  it('is said by a command after three seconds', async () => {
    const stop = new AbortController();
    const said = Promise.withResolvers<string>();
    const running = runCommand(['account', 'list', '--endpoint', endpoint, '--table', 't'], {
      signal: stop.signal,
      onErr: said.resolve,
    });
    expect(await said.promise).toBe('Still waiting for DynamoDB.\n');
    mute.closeAllConnections();
    mute.close();
    expect((await running).exitCode).toBe(1);
  });
});
