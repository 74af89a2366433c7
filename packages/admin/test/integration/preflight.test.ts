import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { createTable } from '../../local-service/local-table.ts';
import { startFakeAws } from '../support/aws.ts';
import { runCommand } from '../support/run-admin.ts';

let aws: Awaited<ReturnType<typeof startFakeAws>>;
let leave: () => void;
beforeAll(async () => {
  aws = await startFakeAws({ name: 'Deployed', outputs: {} });
  leave = aws.enter();
});
afterAll(() => {
  leave();
  aws.close();
});

const FINE = { concurrency: 1_000, rate: 10_000, logsRole: undefined, bootstrap: '30' };
const preflight = (stack: string, ...more: string[]) =>
  runCommand(['preflight', '--region', 'eu-west-1', '--stack', stack, ...more]);

describe('preflight', () => {
  it.each([
    ['an account that has all', {}, 0, 'ok      CDK bootstrap: version 30'],
    ['a new account', { concurrency: 10 }, 1, 'change  Lambda concurrency: 10 executions'],
    ['a newer region', { rate: 2_500 }, 1, '-c stageRate=625'],
    ['a role of other APIs', { logsRole: 'arn:aws:iam::1:role/Logs' }, 1, '-c apiGatewayAccount=false'],
    ['no bootstrap', { bootstrap: '' }, 1, 'change  CDK bootstrap: missing'],
    ['an old bootstrap', { bootstrap: '5' }, 1, 'change  CDK bootstrap: version 5'],
  ])('of %s', async (_name, region, exitCode, line) => {
    Object.assign(aws.region, FINE, region);
    const result = await preflight('None');
    expect(result.out).toContain(line);
    expect(result.out.match(/^change/gm) ?? []).toHaveLength(exitCode);
    expect(result.exitCode).toBe(exitCode);
  });

  it('finds the table that an earlier stack left, but not that of one that is deployed', async () => {
    Object.assign(aws.region, FINE);
    const left = `Left${randomUUID().slice(0, 8)}`;
    for (const stack of [left, 'Deployed'])
      await createTable(dynamodbEndpoint(), `${stack}-TableCD117FA1-${randomUUID()}`, { stream: false });
    const result = await preflight(left);
    expect([result.exitCode, result.out]).toEqual([
      1,
      expect.stringContaining(`change  stack and table: table ${left}-Table`),
    ]);
    const deployed = await preflight('Deployed', '--json');
    expect(deployed.exitCode).toBe(0);
    expect(JSON.parse(deployed.out)).toContainEqual({
      what: 'stack and table',
      verdict: 'ok',
      found: expect.stringContaining('this is an update'),
    });
  });

  it('says what it could not find out, and goes on', async () => {
    Object.assign(aws.region, FINE);
    const endpoint = process.env.AWS_ENDPOINT_URL_LAMBDA;
    process.env.AWS_ENDPOINT_URL_LAMBDA = 'http://127.0.0.1:9';
    const { out, exitCode } = await preflight('None');
    process.env.AWS_ENDPOINT_URL_LAMBDA = endpoint;
    expect(out).toMatch(/^unknown Lambda concurrency: .*127\.0\.0\.1:9/m);
    expect(out).toContain('ok      CDK bootstrap');
    expect(exitCode).toBe(1);
  });
});
