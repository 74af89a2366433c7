import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keys } from '../../../../lib/table/keys.ts';
import { listen } from '../../../../test/support/listen.ts';
import { newTable, put, putAll, stored } from '../../../../test/support/service.ts';
import { measureStack } from '../../status/stack-figures.ts';
import { enterFakeAws } from '../support/aws.ts';
import { serveConsole, textOf } from '../support/console-pages.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const NOW = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 86_400_000;
const INCIDENT = '64f000000000000000000001';
const SEQUENCE = NOW - 600_000;
const idOf = (index: number) => index.toString(16).padStart(24, '0');
/** Nothing listens there. */
const UNREACHABLE = 'http://127.0.0.1:10/';
const AWS = ['--stack', 'Service', '--region', 'eu-west-1'];

const table = await newTable();
const outputs: Record<string, string> = {};
const aws = await enterFakeAws({ name: 'Service', outputs });
/** The API of the stack: answers with this status. */
let answer = 401;
const api = createServer((_request, response) => response.writeHead(answer).end('{}'));
afterAll(() => api.close());

/** In account 1 nothing needs attention, in account 2 everything does. */
beforeAll(async () => {
  const admin = adminOf(table);
  for (const id of [1, 2]) await admin(`account create ${id} --name Acme`);
  const { gateway_key: _none, ...account } = await stored(table, keys.account(2));
  await put(table, keys.account(2), account);
  for (const [id, life, issuedMs, note] of [
    [1, '31d', NOW, 'of-31d'],
    [2, '29d', NOW, 'of-29d'],
    [2, '1d', NOW, 'of-1d'],
    [2, 'never', NOW, 'of-never'],
    [2, '1d', NOW - 2 * DAY_MS, 'expired'],
  ] as const)
    await admin(`app-key issue --account ${id} --expires ${life} --note ${note}`, { now: () => issuedMs });
  const free = { 'session_replay.free_cnt': 10, 'session_measure.free_cnt': 10, 'session_investigate.free_cnt': 10 };
  for (const [id, count] of [
    [1, 10],
    [2, 11],
  ] as const) {
    const used = {
      'session_replay.used_cnt': count,
      'session_measure.used_cnt': 10,
      'session_investigate.used_cnt': 0,
    };
    await put(table, keys.rumResource(id), free);
    await put(table, keys.rumUsage(id), { ...used, session_limit_reached: count > 10 });
  }
  const entry = { ...{ kind: 'merge', incident_id: INCIDENT, sequence: SEQUENCE, large: true }, at_ms: SEQUENCE };
  const ids = Buffer.concat(Array.from({ length: 5_000 }, (_, index) => Buffer.from(idOf(index), 'hex')));
  const lists = { alert_ids: ids, other_ids: Buffer.alloc(ids.length) };
  await put(table, keys.historyEntry(2, INCIDENT, SEQUENCE), { ...entry, request_id: 'r', ...lists });
  const alertRow = (_: unknown, index: number) => ({
    ...{ ...keys.alert(2, idOf(index)), alert_id: idOf(index), title: '' },
    ...(index < 2_031 && { moved_sequence: SEQUENCE }),
  });
  await putAll(table, Array.from({ length: 5_000 }, alertRow));
  await put(table, keys.mergeOrder(2), { last: SEQUENCE, pending: { [SEQUENCE]: INCIDENT } });

  Object.assign(outputs, {
    ...{ TableName: table.name, AccountPlanId: 'plan', FinishMergesLogs: 'finish' },
    ...{ DeadLettersUrl: `${aws.url}/1/letters`, Url: `http://127.0.0.1:${await listen(api)}/prod/` },
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

/** Values of metrics, by name and dimensions. An answer has two pages of results. */
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
  const start = Number(NextToken);
  const results = queries.map(({ Id, MetricStat: { Metric } }) => {
    const dimensions = Metric.Dimensions.filter(({ Name }) => Name !== 'service');
    const name = [Metric.MetricName, ...dimensions.map(({ Value }) => (Value === table.name ? 'table' : Value))];
    return { Id, Values: METRICS[name.join(' ')] ?? [] };
  });
  const half = Math.ceil(queries.length / 2);
  return { MetricDataResults: results.slice(start, start + half), ...(start === 0 && { NextToken: String(half) }) };
}

const status = async () => {
  const { out, err } = await runCommand(['status', '--json', ...AWS], { env: {}, now: () => NOW });
  expect(err).toBe('');
  return JSON.parse(out);
};

describe('admin status of a stack', () => {
  it('has calls and failures of operations, DynamoDB, alarms, dead letters, pending merges and accounts', async () => {
    const { figures, dead_letters, pending_merges, accounts } = await status();
    expect({ figures, dead_letters, pending_merges, accounts }).toMatchObject({
      figures: {
        operations: [
          { operation: 'browse-fleet', calls: 50, failed: 5, p99_ms: 81 },
          { operation: 'get-rum-resource', calls: 0, failed: 0 },
          { operation: 'delete-work-item', calls: 0, failed: 0 },
          { operation: 'send-notification', calls: 0, failed: 0 },
          { operation: 'send-records', calls: 0, failed: 0 },
          { operation: 'merge-alerts', calls: 1, failed: 1 },
        ],
        dynamodb: { throttled: 4, latency_ms: { Query: 3 } },
        alarms: [{ name: 'Service-WatchDeadLetters', what: 'A merge could not be finished', since_ms: NOW }],
      },
      dead_letters: 3,
      pending_merges: [
        {
          ...{ account_id: 2, incident_id: INCIDENT, sequence: SEQUENCE, request_id: 'r', at_ms: SEQUENCE },
          ...{ alerts: 5_000, moved: 2_031 },
          last: { incident_id: INCIDENT, sequence: SEQUENCE, error: 'finish1', at_ms: NOW - 30_000 },
        },
      ],
      accounts: {
        ...{ count: 2, without_gateway_key: [2] },
        over_quota: ['session_replay', 'limit of sessions'].map((quota) => ({ account_id: 2, quota })),
        // Those that expire within 30 days.
        expiring_keys: [1, 29].map((days) => ({
          ...{ account_id: 2, note: `of-${days}d`, expires_ms: NOW + days * DAY_MS },
        })),
      },
    });
  });

  it('says whether the service answers, by a call of its own', async () => {
    expect((await status()).service).toEqual({ url: outputs.Url, answers: true, ms: expect.any(Number) });
    answer = 503;
    expect((await status()).service).toMatchObject({ answers: false, problem: expect.stringContaining('503') });
    answer = 401;
    const { Url = '' } = outputs;
    outputs.Url = UNREACHABLE;
    expect((await status()).service).toMatchObject({ problem: expect.stringContaining('ECONNREFUSED') });
    outputs.Url = Url;
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
    const stack = { stack: 'Service', tableName: table.name, region: 'eu-west-1', finishMergesLogGroup: 'finish' };
    const console = await serveConsole({
      ...{ table, now: () => NOW, url: () => UNREACHABLE, measure: () => measureStack(stack, NOW) },
      deadLetters: async () => 3,
    });
    await console.signIn();
    const text = textOf((await console.page('/')).text);
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
