import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENT } from '../../../../lib/aws/http-handler.ts';
import { connectTable, type Table } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { getRow } from '../../../../lib/table/read.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newTable, put } from '../../../../test/support/service.ts';
import { silentServer } from '../../../../test/support/wire.ts';
import { startDynamoDbProxy } from '../../../local/dynamodb-proxy.ts';
import { startFailingTable } from '../../../local/failing-table.ts';
import { readAllAccounts } from '../../accounts/accounts.ts';
import { clientConfig } from '../../aws/client-config.ts';
import { NoAnswerError, withAnswerTimeout } from '../../local-service/answer-timeout.ts';
import { runCommand } from '../support/run-admin.ts';

const { name, ...rest } = await newTable();

/** A server that accepts calls and never answers. */
async function startSilent() {
  const { port, close } = await silentServer();
  onTestFinished(close);
  return { endpoint: `http://127.0.0.1:${port}`, close };
}

/** A table whose waiting is reported after half a second. `reports` returns how often. */
function patient(table: Table) {
  let reports = 0;
  const onWaiting = () => (reports += 1);
  const { table: waiting } = withAnswerTimeout(table, { warnAfterMs: 500, failAfterMs: 1_500, onWaiting });
  return { table: waiting, reports: () => reports };
}
const patientAt = (endpoint: string) => patient(connectTable({ name, endpoint, ...PATIENT }));

describe('waiting for DynamoDB', () => {
  it('is reported, and ends, for a call that hangs although a concurrent one is answered', async () => {
    const proxy = await startDynamoDbProxy(dynamodbEndpoint(), async ({ action }, send) =>
      action === 'GetItem' ? undefined : send(),
    );
    const { table, reports } = patientAt(proxy.endpoint);
    const hung = expect(getRow(table, keys.account(1))).rejects.toThrow(NoAnswerError);
    await readAllAccounts(table);
    await hung;
    expect(reports()).toBe(1);
    await proxy.close();
  });

  it('ends even if calls are throttled and sent again', async () => {
    await put({ name, ...rest }, keys.listedAccount(1), {});
    const proxy = await startFailingTable(dynamodbEndpoint(), ['throttle']);
    await expect(readAllAccounts(patientAt(proxy.endpoint).table)).rejects.toThrow(NoAnswerError);
    await proxy.close();
  });

  it('is not reported while answers arrive, refusals among them', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const refused = Object.assign(new Error(), { name: 'ResourceNotFoundException' });
    const send = () => new Promise((resolve, reject) => setTimeout(calls % 2 ? reject : resolve, 400, refused));
    const { table, reports } = patient({ name: 't', client: { send } } as never);
    let calls = 0;
    for (; calls < 5; calls += 1) {
      const answered = Promise.allSettled([getRow(table, keys.account(1)), getRow(table, keys.account(2))]);
      await vi.advanceTimersByTimeAsync(400);
      await answered;
    }
    expect(reports()).toBe(0);
  });

  it('is reported by a command after three seconds, and ends if the connection is closed', async () => {
    const { endpoint, close } = await startSilent();
    const printed = Promise.withResolvers<string>();
    const args = ['account', 'list', '--endpoint', endpoint, '--table', 't'];
    const running = runCommand(args, { onErr: printed.resolve });
    expect(await printed.promise).toBe('Still waiting for DynamoDB.\n');
    close();
    expect((await running).exitCode).toBe(4);
  });

  it('ends at once when the user stops a command that only reads', async () => {
    const { endpoint } = await startSilent();
    const args = ['account', 'list', '--endpoint', endpoint, '--table', 't'];
    const { exitCode, err } = await runCommand(args, { signal: AbortSignal.timeout(100) });
    expect([exitCode, err]).toEqual([130, 'Stopped. Run the same command again to finish.\n']);
  });

  it('ends for calls of other services of AWS, too', async () => {
    const { endpoint } = await startSilent();
    const credentials = { accessKeyId: 'x', secretAccessKey: 'x' };
    const client = new STSClient({ ...clientConfig('eu-west-1', 100), endpoint, credentials });
    await expect(client.send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
