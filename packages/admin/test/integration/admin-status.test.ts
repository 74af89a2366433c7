import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { newTable, put } from '../../../../test/support/service.ts';
import { startFakeAws } from '../support/aws.ts';
import { serveConsole } from '../support/console-pages.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const NOW = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 86_400_000;
const INCIDENT = '64f000000000000000000001';
const SEQUENCE = NOW - 600_000;
const AWS = ['--stack', 'Service', '--region', 'eu-west-1'];

let table: Table;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let leave: () => void;
/** The API of the stack: answers with this status. */
let answer = 401;
const api = createServer((_request, response) => response.writeHead(answer).end('{}'));
const outputs: Record<string, string> = {};

/** In account 1 nothing needs attention, in account 2 everything does. */
beforeAll(async () => {
  table = await newTable();
  const admin = adminOf(table);
  const at = (ms: number) => ({ now: () => ms });
  for (const id of [1, 2]) await admin(`account create ${id} --name Acme`);
  await put(table, keys.account(2), await without(keys.account(2)));
  for (const [account, life] of [
    [1, '31d'],
    [2, '29d'],
    [2, '1d'],
    [2, 'never'],
  ])
    await admin(`app-key issue --account ${account} --expires ${life} --note of-${life}`, at(NOW));
  await admin('app-key issue --account 2 --expires 1d --note expired', at(NOW - 2 * DAY_MS));
  const free = { 'session_replay.free_cnt': 10, 'session_measure.free_cnt': 10, 'session_investigate.free_cnt': 10 };
  for (const id of [1, 2]) await put(table, keys.rumResource(id), free);
  const used = (count: number) => ({
    ...{ 'session_replay.used_cnt': count, 'session_measure.used_cnt': 10, 'session_investigate.used_cnt': 0 },
    session_limit_reached: count > 10,
  });
  await put(table, keys.rumUsage(1), used(10));
  await put(table, keys.rumUsage(2), used(11));
  const entry = { ...{ kind: 'merge', incident_id: INCIDENT, sequence: SEQUENCE, large: true }, at_ms: SEQUENCE };
  await put(table, keys.feedEntry(2, INCIDENT, SEQUENCE), { ...entry, request_id: 'r', alerts: 5_000 });
  for (const [start, count] of [
    [0, 2_000],
    [3_000, 31],
  ] as const)
    await put(table, keys.feedMoves(2, INCIDENT, SEQUENCE, start), { count, moved: {}, stayed: [] });
  await put(table, keys.mergeOrder(2), { last: SEQUENCE, pending: { [SEQUENCE]: INCIDENT } });

  aws = await startFakeAws({ name: 'Service', outputs });
  leave = aws.enter();
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  Object.assign(outputs, {
    ...{ TableName: table.name, AccountPlanId: 'plan', FinishMergesLogs: 'finish' },
    ...{ DeadLettersUrl: `${aws.url}/1/letters`, Url: `http://127.0.0.1:${(api.address() as AddressInfo).port}/prod/` },
  });
  aws.setQueue({ ApproximateNumberOfMessages: '2', ApproximateNumberOfMessagesNotVisible: '1' });
  aws.replies.GetMetricData = metricData;
  // A page has a single alarm.
  aws.replies.DescribeAlarms = ({ AlarmNamePrefix, StateValue, NextToken }) => ({
    MetricAlarms: [
      ['Service-WatchLong', 'Part of ErrorBudgetFast: it burns'],
      ['Service-WatchDeadLetters', 'A merge could not be finished'],
    ]
      .slice(...(NextToken === undefined ? [0, 1] : [1]))
      .map(([AlarmName, AlarmDescription]) => ({ AlarmName, AlarmDescription, StateUpdatedTimestamp: NOW / 1000 })),
    ...(NextToken === undefined && { NextToken: '1' }),
    ...(AlarmNamePrefix === 'Service-' && StateValue === 'ALARM' ? {} : { MetricAlarms: [] }),
  });
  // CloudWatch may answer with an empty page before one that has events.
  aws.replies.FilterLogEvents = ({ logGroupName, nextToken }) => ({
    ...(nextToken === undefined && { nextToken: '1' }),
    events: (nextToken === undefined ? [] : [NOW - 60_000, NOW - 30_000, NOW - 90_000]).map((timestamp, index) => ({
      timestamp,
      message: JSON.stringify({ incident_id: INCIDENT, sequence: SEQUENCE, error_name: `${logGroupName}${index}` }),
    })),
  });
});
afterAll(() => {
  leave();
  aws.close();
  api.close();
});

async function without(key: { pk: string; sk: string }) {
  const { rows } = await (await import('../../../../lib/dynamodb/batch-get.ts')).batchGet(table, [key as never]);
  const { gateway_key: _none, pk: _pk, sk: _sk, ...row } = [...rows.values()][0] as unknown as Record<string, unknown>;
  return row;
}

/** Values of metrics, by name and dimensions; a page of the answer holds a result. */
const METRICS: Readonly<Record<string, number[]>> = {
  'Calls browse-fleet OK': [40, 2],
  'Calls browse-fleet InvalidParameter': [3],
  'Calls browse-fleet ServiceUnavailable': [5],
  'Calls merge-alerts InternalError': [1],
  'Duration browse-fleet OK': [12.4, 80.6],
  'ReadThrottleEvents table': [4],
  'SuccessfulRequestLatency table Query': [2, 4],
};
interface Query {
  Id: string;
  MetricStat: { Metric: { MetricName: string; Dimensions: { Name: string; Value: string }[] } };
}
function metricData({ MetricDataQueries, NextToken = '0' }: Record<string, unknown>) {
  const queries = MetricDataQueries as Query[];
  const at = Number(NextToken);
  const results = queries.map(({ Id, MetricStat: { Metric } }) => {
    const dimensions = Metric.Dimensions.filter(({ Name }) => Name !== 'service');
    const name = [Metric.MetricName, ...dimensions.map(({ Value }) => (Value === table.name ? 'table' : Value))];
    return { Id, Values: METRICS[name.join(' ')] ?? [] };
  });
  const half = Math.ceil(queries.length / 2);
  return { MetricDataResults: results.slice(at, at + half), ...(at === 0 && { NextToken: String(half) }) };
}

const status = async () => {
  const { out, err } = await runCommand(['status', '--json', ...AWS], { env: {}, now: () => NOW });
  expect(err).toBe('');
  return JSON.parse(out);
};

describe('admin status of a stack', () => {
  it('has the calls and failures of each operation, and latency and throttles of DynamoDB', async () => {
    const { figures } = await status();
    expect(figures.operations).toEqual([
      { operation: 'browse-fleet', calls: 50, failed: 5, p99_ms: 81 },
      { operation: 'get-rum-resource', calls: 0, failed: 0 },
      { operation: 'delete-work-item', calls: 0, failed: 0 },
      { operation: 'merge-alerts', calls: 1, failed: 1 },
    ]);
    expect(figures.dynamodb).toEqual({ throttled: 4, latency_ms: { Query: 3 } });
  });

  it('has raised alarms, dead letters, and pending merges with progress and last error', async () => {
    const { figures, dead_letters, pending_merges } = await status();
    expect(figures.alarms).toEqual([
      { name: 'Service-WatchDeadLetters', what: 'A merge could not be finished', since_ms: NOW },
    ]);
    expect(dead_letters).toBe(3);
    expect(pending_merges).toEqual([
      {
        ...{ account_id: 2, incident_id: INCIDENT, sequence: SEQUENCE, request_id: 'r', at_ms: SEQUENCE },
        ...{ alerts: 5_000, moved: 2_031 },
        last: { incident_id: INCIDENT, sequence: SEQUENCE, error: 'finish1', at_ms: NOW - 30_000 },
      },
    ]);
  });

  it('has accounts without gateway key or over a quota, and keys that expire within 30 days', async () => {
    const { accounts } = await status();
    expect(accounts).toEqual({
      ...{ count: 2, without_gateway_key: [2] },
      over_quota: ['session_replay', 'limit of sessions'].map((quota) => ({ account_id: 2, quota })),
      expiring_keys: ['1d', '29d'].map((life) => ({
        ...{ account_id: 2, app_key_id: expect.any(String), note: `of-${life}` },
        expires_ms: NOW + Number.parseInt(life, 10) * DAY_MS,
      })),
    });
  });

  it('says whether the service answers, by a call of its own', async () => {
    expect((await status()).service).toEqual({ url: outputs.Url, answers: true, ms: expect.any(Number) });
    answer = 503;
    expect((await status()).service).toMatchObject({ answers: false, problem: expect.stringContaining('503') });
    answer = 401;
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    outputs.Url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/`;
    await new Promise((resolve) => gone.close(resolve));
    expect((await status()).service).toMatchObject({
      answers: false,
      problem: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('shows what it can read when a part fails', async () => {
    aws.setQueue('AccessDenied');
    const { out } = await runCommand(['status', ...AWS], { env: {}, now: () => NOW });
    expect(out).toMatch(/^dead letters +AWS denied access: You may not\.$/m);
    expect(out).toContain('2,031 of 5,000 alerts moved');
    expect(out).toMatch(/^browse-fleet +50 +5 +81 ms$/m);
    aws.setQueue({ ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' });
  });

  it('shows figures of accounts as unknown when the accounts cannot be read', async () => {
    const { out } = await adminOf({ ...table, name: 'missing' })('status');
    for (const figure of ['without gateway key', 'over a RUM quota', 'keys that expire within 30 days'])
      expect(out).toMatch(new RegExp(`^  ${figure} +unknown$`, 'm'));
  });
});

describe('the front page of the console', () => {
  it('shows the same as admin status', async () => {
    const { measureStack } = await import('../../status/stack-figures.ts');
    const place = { stack: 'Service', tableName: table.name, region: 'eu-west-1', finishMergesLogGroup: 'finish' };
    const console = await serveConsole({
      ...{ table, now: () => NOW, url: () => outputs.Url, measure: () => measureStack(place, NOW) },
      deadLetters: async () => 3,
    });
    await console.enter();
    const text = (await console.page('/')).text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    for (const part of [
      'does not answer (ECONNREFUSED)',
      'Service-WatchDeadLetters',
      'browse-fleet 50 5 81 ',
      'Dead letters 3 ',
      '2,031 of 5,000 alerts moved',
      'finish1',
      `merge finish ${INCIDENT} ${SEQUENCE} --account 2`,
      'of-29d',
      'Query 3 ms',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('of-31d');
    await console.close();
  });
});
