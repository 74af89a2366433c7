import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectTable, PATIENT, type Table } from '../../../../lib/table/client.ts';
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

const table = await newTable();

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'x');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'x');
  return () => vi.unstubAllEnvs();
});

/** A server that accepts calls and never answers. */
async function startSilent() {
  const { port, close } = await silentServer();
  onTestFinished(close);
  return { endpoint: `http://127.0.0.1:${port}`, close };
}

/** A table whose waiting is reported after half a second. `reports` returns how often. */
const patientTable = (table: Table) => {
  let reports = 0;
  const onWaiting = () => (reports += 1);
  const patient = withAnswerTimeout(table, { warnAfterMs: 500, failAfterMs: 1_500, onWaiting });
  return { ...patient, reports: () => reports };
};

describe('waiting for DynamoDB', () => {
  it('is reported, and ends, for a call that hangs although a concurrent one is answered', async () => {
    const proxy = await startDynamoDbProxy(dynamodbEndpoint(), async ({ action }, reply, send) => {
      if (action === 'GetItem') return;
      const { status, headers, body } = await send();
      reply.writeHead(status, headers).end(body);
    });
    const hanging = connectTable({ name: table.name, endpoint: proxy.endpoint, ...PATIENT });
    const { table: patient, reports } = patientTable(hanging);
    const began = performance.now();
    const hung = expect(getRow(patient, keys.account(1))).rejects.toThrow(NoAnswerError);
    await readAllAccounts(patient);
    await hung;
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(reports()).toBe(1);
    await proxy.close();
  });

  it('ends even if calls are throttled and sent again', async () => {
    await put(table, keys.listedAccount(1), {});
    const proxy = await startFailingTable(dynamodbEndpoint(), ['throttle']);
    const throttled = connectTable({ name: table.name, endpoint: proxy.endpoint, ...PATIENT });
    const { table: patient } = patientTable(throttled);
    await expect(readAllAccounts(patient)).rejects.toThrow(NoAnswerError);
    await proxy.close();
  });

  it('is not reported while answers arrive', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const send = () => new Promise((resolve) => setTimeout(resolve, 400));
    const { table: patient, reports } = patientTable({ name: 't', client: { send } } as never);
    for (let calls = 0; calls < 5; calls += 1) {
      const answered = getRow(patient, keys.account(1)).catch(() => {});
      await vi.advanceTimersByTimeAsync(400);
      await answered;
    }
    expect(reports()).toBe(0);
  });

  it.each([
    ['DynamoDB', (endpoint: string) => ['--endpoint', endpoint, '--table', 't']],
    ['AWS', () => ['--stack', 'Mute', '--region', 'eu-west-1']],
  ])('is reported by a command after three seconds: %s', async (what, targetOf) => {
    const { endpoint, close } = await startSilent();
    vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', endpoint);
    const printed = Promise.withResolvers<string>();
    const running = runCommand(['account', 'list', ...targetOf(endpoint)], { onErr: printed.resolve });
    expect(await printed.promise).toBe(`Still waiting for ${what}.\n`);
    close();
    expect((await running).exitCode).toBe(1);
  });

  it('ends at once when the user stops a command that only reads', async () => {
    const { endpoint } = await startSilent();
    const args = ['account', 'list', '--endpoint', endpoint, '--table', 't'];
    const { exitCode, err } = await runCommand(args, { signal: AbortSignal.timeout(500) });
    expect([exitCode, err]).toEqual([130, 'Stopped. Run the same command again to finish.\n']);
  });

  it('ends for calls of other services of AWS, too', async () => {
    const { endpoint } = await startSilent();
    const client = new STSClient({ ...clientConfig('eu-west-1', 100), endpoint });
    await expect(client.send(new GetCallerIdentityCommand({}))).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
