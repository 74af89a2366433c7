import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { beforeAll, expect, it } from 'vitest';
import { type OperationName, operations } from '../../../../lib/operations/index.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { serve } from '../../../../test/support/serve.ts';
import { newTable, put, stored } from '../../../../test/support/service.ts';
import { measureStack, readPoints } from '../../status/stack-figures.ts';
import { alarmsOnAws, enterFakeAws, type FakeStack } from '../support/aws.ts';
import { serveConsole, textOf } from '../support/console-pages.ts';
import { adminOf, runCommand } from '../support/run-admin.ts';

const NOW = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 86_400_000;
const INCIDENT = '64f000000000000000000001';
const SEQUENCE = NOW - 600_000;
const MERGE = { incident_id: INCIDENT, sequence: SEQUENCE, request_id: 'r', at_ms: SEQUENCE };
const ALERTS = ['a', 'b', 'c'].map((digit) => digit.repeat(24));
/** Nothing listens there. */
const UNREACHABLE = 'http://127.0.0.1:10/';

const table = await newTable();
const outputs: Record<string, string> = {
  TableName: table.name,
  AccountPlanId: 'plan',
  FinishMergesLogs: 'finish',
  UsageKeyAuthorizerLogs: 'authorizer',
};
const deployed: FakeStack = { outputs };
const aws = await enterFakeAws({ Service: deployed });
outputs.DeadLettersUrl = `${aws.url}/1/letters`;
aws.setQueue({ ApproximateNumberOfMessages: '2', ApproximateNumberOfMessagesNotVisible: '1' });

/** In account 1 nothing needs attention, in account 2 everything does. */
beforeAll(async () => {
  const admin = adminOf(table);
  for (const id of [1, 2]) {
    await admin(`account create ${id} --name Acme`);
    const free = { 'session_replay.free_cnt': 10, 'session_measure.free_cnt': 10, 'session_investigate.free_cnt': 10 };
    await put(table, keys.rumResource(id), free);
    const used = { 'session_replay.used_cnt': 9 + id, 'session_measure.used_cnt': 10, session_limit_reached: id > 1 };
    await put(table, keys.rumUsage(id), used);
  }
  const { gateway_key: _none, ...account } = await stored(table, keys.account(2));
  await put(table, keys.account(2), account);
  const issue = (id: number, life: string, now = NOW) =>
    admin(`app-key issue --account ${id} --expires ${life} --note of-${life}`, { now: () => now });
  await issue(1, '31d');
  for (const life of ['29d', '1d', 'never']) await issue(2, life);
  await issue(2, '2d', NOW - 2 * DAY_MS); // expired
  const lists = { alert_ids: Buffer.from(ALERTS.join(''), 'hex'), other_ids: Buffer.alloc(36) };
  await put(table, keys.historyEntry(2, INCIDENT, SEQUENCE), { kind: 'merge', ...MERGE, large: true, ...lists });
  for (const [index, id] of ALERTS.entries())
    await put(table, keys.alert(2, id), { alert_id: id, title: '', ...(index < 2 && { moved_sequence: SEQUENCE }) });
  await put(table, keys.logHead(2), { last: SEQUENCE, pending: { [SEQUENCE]: INCIDENT } });
});

/** Values of metrics, by name and dimensions. */
const METRICS: Readonly<Record<string, number[]>> = {
  'Calls browse-fleet OK': [40, 2],
  'Calls browse-fleet InvalidParameter': [3],
  // Those of unknown keys, such as the probes of the status, are not counted.
  'Calls browse-fleet Unauthorized': [9],
  'Calls browse-fleet ServiceUnavailable': [5],
  'Calls merge-alerts InternalError': [1],
  'Duration browse-fleet OK': [12.4, 80.6],
  'ReadThrottleEvents table': [4],
  'SuccessfulRequestLatency table Query': [2, 4],
};
interface MetricQuery {
  Id: string;
  MetricStat: { Metric: { MetricName: string; Dimensions: { Name: string; Value: string }[] } };
}
interface AlarmsQuery {
  AlarmNames?: string[];
  AlarmTypes: string[];
  NextToken?: string;
}
/** All composite alarms with their parts, and another one; and those of a stack whose name begins with this one's. */
const RAISED = ['Service', 'ServiceStandby'].flatMap((stack) =>
  [...alarmsOnAws(stack)].filter(([name, { Type }]) => /CompositeAlarm$/.test(Type) || /Budget|DeadL/.test(name)),
);
const nameOf = ({ MetricName, Dimensions }: MetricQuery['MetricStat']['Metric']) => {
  const values = Dimensions.flatMap(({ Name, Value }) => (Name === 'service' ? [] : Value));
  return [MetricName, ...values].join(' ').replace(table.name, 'table');
};
// Each answers with two pages. CloudWatch may answer with an empty page before one that has something.
Object.assign(aws.replies, {
  GetMetricData({ MetricDataQueries: all, NextToken }: { MetricDataQueries: MetricQuery[]; NextToken?: string }) {
    if (all.length > 500) return { __type: 'ValidationError', message: 'At most 500 queries.' };
    const queries = all.filter((_, index) => index % 2 === Number(NextToken ?? 0));
    const results = queries.map(({ Id, MetricStat: { Metric } }) => ({ Id, Values: METRICS[nameOf(Metric)] ?? [] }));
    return { MetricDataResults: results, ...(!NextToken && { NextToken: '1' }) };
  },
  DescribeAlarms({ AlarmNames, AlarmTypes, NextToken }: AlarmsQuery) {
    // Without names it describes all of the account.
    const found = RAISED.filter(([name]) => (AlarmNames?.length ? AlarmNames.includes(name) : true));
    const pageOf = (type: string) =>
      found
        .filter(([, { Type }], index) => Type.endsWith(`:${type}`) && index % 2 === Number(NextToken ?? 0))
        .map(([AlarmName, { Properties }]) => ({ ...Properties, AlarmName, StateUpdatedTimestamp: NOW / 1000 }));
    const all = { MetricAlarms: pageOf('Alarm'), CompositeAlarms: pageOf('CompositeAlarm') };
    const wanted = Object.entries(all).filter(([type]) => AlarmTypes.includes(type.slice(0, -1)));
    return { ...Object.fromEntries(wanted), ...(!NextToken && { NextToken: '1' }) };
  },
  FilterLogEvents({ logGroupName, nextToken, filterPattern }: Record<string, string>) {
    if (logGroupName === 'authorizer') {
      expect(filterPattern).toBe('{ $.message = "app key refused" }');
      const line = (agoMs: number, app_key_id: string, reason: string) => ({
        ...{ timestamp: NOW - agoMs, message: JSON.stringify({ account_id: '3', app_key_id, reason }) },
      });
      if (!nextToken) return { nextToken: '1', events: [line(60_000, 'b', 'revoked')] };
      return { events: [line(30_000, 'b', 'suspended'), line(9_000, 'a', 'expired')] };
    }
    const messageOf = (index: number) => JSON.stringify({ ...MERGE, error_name: `${logGroupName}${index}` });
    const times = [NOW - 60_000, NOW - 30_000, NOW - 90_000];
    const events = times.map((timestamp, index) => ({ timestamp, message: messageOf(index) }));
    return nextToken ? { events } : { nextToken: '1' };
  },
});

it('more metrics than CloudWatch reads in a call, as 40 operations have, are read in several', async () => {
  const query = { namespace: 'AWS/DynamoDB', name: 'ReadThrottleEvents', statistic: 'Sum' };
  const queries = Array.from({ length: 501 }, () => ({ ...query, dimensions: { TableName: table.name } }));
  const client = new CloudWatch({ region: 'eu-west-1' });
  expect(await readPoints(client, queries, NOW)).toEqual(queries.map(() => [4]));
});

const USED: Partial<Record<OperationName, object>> = {
  'browse-fleet': { calls: 50, failed: 5, p99_ms: 81 },
  'merge-alerts': { calls: 1, failed: 1 },
};

const status = (...more: string[]) =>
  runCommand(['status', '--stack', 'Service', '--region', 'eu-west-1', ...more], { env: {}, now: () => NOW });
const statusJson = async () => JSON.parse((await status('--json')).out);

it('admin status of a stack has calls and failures of operations, DynamoDB, alarms, dead letters, pending merges and accounts', async () => {
  const { figures, dead_letters, pending_merges, accounts } = await statusJson();
  expect(figures).toEqual({
    operations: operations.map(({ name: operation }) => ({ operation, calls: 0, failed: 0, ...USED[operation] })),
    dynamodb: { throttled: 4, latency_ms: { Query: 3 } },
    alarms: expect.any(Array),
    refused_keys: [
      { account_id: 3, app_key_id: 'b', reason: 'suspended', last_ms: NOW - 30_000 },
      { account_id: 3, app_key_id: 'a', reason: 'expired', last_ms: NOW - 9_000 },
    ],
  });
  // Composite ones first, without their parts, as two pages have them.
  expect(figures.alarms.map(({ name }: { name: string }) => /^Service-?Watch(\w+)[0-9A-F]{8}/.exec(name)?.[1])).toEqual(
    [...['ErrorBudgetFast', 'LambdaThrottled', 'ErrorBudgetSlow', 'SourceNotRead', 'RelayDeadLetters', 'DeadLetters']],
  );
  const what = 'A merge could not be finished. What to do: docs/runbook.md#deadletters';
  expect(figures.alarms).toContainEqual({ name: expect.stringMatching('^Service-WatchDeadL'), what, since_ms: NOW });
  // An ephemeral stack has no alarms.
  deployed.resources = {};
  expect((await statusJson()).figures.alarms).toEqual([]);
  delete deployed.resources;
  expect(dead_letters).toBe(3);
  const last = { incident_id: INCIDENT, sequence: SEQUENCE, error: 'finish1', at_ms: NOW - 30_000 };
  expect(pending_merges).toMatchObject([{ account_id: 2, ...MERGE, alerts: 3, moved: 2, last }]);
  expect(accounts).toMatchObject({
    ...{ count: 2, without_gateway_key: [2] },
    over_quota: ['session_replay', 'limit of sessions'].map((quota) => ({ account_id: 2, quota })),
    // Those that expire within 30 days.
    expiring_keys: [1, 29].map((days) => ({ account_id: 2, note: `of-${days}d`, expires_ms: NOW + days * DAY_MS })),
  });
});

it('admin status says whether the service answers, by a call of its own', async () => {
  let answer = 401;
  const body = { request_id: 'r', error: { code: 'ServiceUnavailable', message: 'Later.' } };
  outputs.Url = await serve((_request, response) => response.writeHead(answer).end(JSON.stringify(body)));
  expect((await statusJson()).service).toEqual({ url: outputs.Url, answers: true, ms: expect.any(Number) });
  answer = 503;
  const problem = 'answers with status 503: ServiceUnavailable: Later.';
  expect((await statusJson()).service).toMatchObject({ answers: false, problem });
  // With a domain, the address that does without DNS.
  outputs.DefaultUrl = 'https://abc.execute-api.eu-west-1.amazonaws.com/prod';
  expect((await statusJson()).service).toMatchObject({ url: outputs.Url, default_url: outputs.DefaultUrl });
  expect((await status()).out).toMatch(/^Default address +https:\/\/abc\.execute-api\S+\/prod *$/m);
  delete outputs.Url;
});

it('admin status shows what it can read as text, although a part fails', async () => {
  aws.setQueue('AccessDenied');
  const { out } = await status();
  for (const line of [
    /^As of 2026-11-23 12:00:00 UTC\n/,
    /^Dead letters +cannot be read +AWS denied access: You may not\.$/m,
    /^Pending merges +1$/m,
    /^Over a RUM quota +2 +account 2 \(session_replay\), account 2 \(limit of sessions\)$/m,
    /^Service-WatchDeadLetters\w+-\w+ +2026-11-23 12:00:00 UTC +A merge could not/m,
    /^browse-fleet +50 +5 +81$/m,
    /^2026-11-23 11:59:30 UTC +3 +b +account suspended$/m,
    /^2026-.* 2 +64f0.* 2 of 3 alerts moved +\S+ +2026-11-23 11:59:30 UTC +finish1 +admin merge finish 64f0.* --account 2$/m,
    /of-1d +admin app-key rotate .*\n.*of-29d /,
  ])
    expect(out).toMatch(line);
  const withoutTable = await adminOf({ ...table, name: 'missing' })('status');
  expect(withoutTable.out).toMatch(/^Accounts +cannot be read +/m);
});

it('the front page of the console shows the same as admin status', async () => {
  const stack = {
    stack: 'Service',
    tableName: table.name,
    region: 'eu-west-1',
    outputs: new Map(Object.entries(outputs)),
  };
  const console = await serveConsole({
    ...{ table, now: () => NOW, url: UNREACHABLE, measure: () => measureStack(stack, NOW) },
    deadLetters: async () => 3,
  });
  await console.signIn();
  const { text: page } = await console.page('/');
  const text = textOf(page);
  for (const part of [
    ...['does not answer (ECONNREFUSED)', 'Service-WatchDeadLetters', 'browse-fleet 50 5 81 ', 'Dead letters 3 '],
    ...['2 of 3 alerts moved', 'finish1', `merge finish ${INCIDENT} ${SEQUENCE} --account 2`, 'of-29d', 'Query 3 ms'],
  ])
    expect(text).toContain(part);
  const [, failed = ''] = /<span>Failed calls<\/span> <strong><a href="#([^"]*)">6</.exec(page) ?? [];
  expect(page).toContain(`<section id="${failed}"`);
  await console.close();
});
