/** The stack of a service with 40 operations: the limits of AWS that grow with them, each with its source. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { operations } from '../../lib/operations/index.ts';
import { resourcesOf, routesOf, type Template } from '../../packages/local/template.ts';

const OPERATIONS = 40;
/** The longest stack name that the setting allows. */
const STACK = `S${'x'.repeat(63)}`;
const root = fileURLToPath(new URL('../../', import.meta.url));
let template: Template;

/** Synthesizes a copy of the service with further operations, each with a path of its own, by the CDK app itself. */
beforeAll(async () => {
  const copy = mkdtempSync(join(tmpdir(), 'operations-'));
  for (const part of ['cdk.json', 'package.json', 'package-lock.json', 'openapi.json', 'functions', 'infra', 'lib'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const names = Array.from({ length: OPERATIONS - operations.length }, (_, index) => `a-further-operation-${index}`);
  for (const name of names) writeFileSync(join(copy, 'functions', `${name}.ts`), 'export const handler = () => {};\n');
  const list = join(copy, 'lib/operations/index.ts');
  const further = `...${JSON.stringify(names)}.map((name) => ({ ...mergeAlerts, name, path: \`/\${name}/that-is-new\` }))`;
  const changed = readFileSync(list, 'utf8').replace(/^\] as const satisfies Operation\[\];/m, `  ${further},\n$&`);
  writeFileSync(list, changed.replace('as const satisfies', 'satisfies'));
  const context = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')).context;
  const env = {
    ...process.env,
    CDK_OUTDIR: join(copy, 'cdk.out'),
    CDK_CONTEXT_JSON: JSON.stringify({ ...context, stackName: STACK, 'aws:cdk:bundling-stacks': [] }),
  };
  await promisify(execFile)(process.execPath, [join(copy, 'infra/app.ts')], { cwd: copy, env });
  template = JSON.parse(readFileSync(join(copy, `cdk.out/${STACK}.template.json`), 'utf8'));
});

/** What deploying makes of a value: at least as long as the longest that AWS may give it. */
function deployed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deployed);
  if (typeof value !== 'object' || value === null) return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, unknown>;
  if (Array.isArray(join)) return (deployed(join[1]) as string[]).join(join[0]);
  const pseudo = { 'AWS::Partition': 'aws-us-gov', 'AWS::Region': 'ap-southeast-3', 'AWS::AccountId': '123456789012' };
  if (typeof Ref === 'string') return { ...pseudo }[Ref] ?? nameOf(Ref);
  if (Array.isArray(attribute))
    return `arn:aws-us-gov:logs:ap-southeast-3:123456789012:log-group:${nameOf(attribute[0])}`;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, deployed(member)]));
}
/** The name that CloudFormation gives a resource. */
const nameOf = (id: string) => `${STACK}-${id}-ABCDEFGHIJKLM`;
const sizeOf = (value: unknown) => JSON.stringify(deployed(value)).length;
const all = (type: string) => Object.values(resourcesOf(template, `AWS::${type}`)).map(({ Properties }) => Properties);
const largest = (numbers: readonly number[]) => Math.max(...numbers);

it('has all operations', () => {
  const posts = [...routesOf(template).values()].filter(({ Properties }) => Properties.HttpMethod === 'POST');
  expect(posts).toHaveLength(OPERATIONS);
});

it('is a stack that CloudFormation takes', () => {
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
  expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(500);
  expect(Object.keys(template.Outputs ?? {}).length).toBeLessThanOrEqual(200);
  expect(JSON.stringify(template, undefined, 1).length).toBeLessThanOrEqual(1_000_000);
});

it('is an API that API Gateway takes', () => {
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  expect(all('ApiGateway::Resource').length).toBeLessThanOrEqual(300);
});

it('has policies that IAM and Lambda take', () => {
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
  expect(largest(all('IAM::ManagedPolicy').map(({ PolicyDocument }) => sizeOf(PolicyDocument)))).toBeLessThan(6_144);
  const inline = all('IAM::Role').map(({ Policies = [] }) => sizeOf(Policies));
  const attached = all('IAM::Policy').map(({ PolicyDocument }) => sizeOf(PolicyDocument));
  expect(largest(inline) + largest(attached)).toBeLessThan(10_240);
  // https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html: a function's own policy, and its variables.
  const permissions = Map.groupBy(all('Lambda::Permission'), ({ FunctionName }) => JSON.stringify(FunctionName));
  expect(largest([...permissions.values()].map(sizeOf))).toBeLessThan(20_480);
  expect(largest(all('Lambda::Function').map(({ Environment }) => sizeOf(Environment)))).toBeLessThan(4_096);
});

it('has alarms, filters and a dashboard that CloudWatch takes', () => {
  // `admin status` names all: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
  expect([...all('CloudWatch::Alarm'), ...all('CloudWatch::CompositeAlarm')].length).toBeLessThanOrEqual(100);
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
  const read = (Metrics: object[] = []) => Metrics.filter((part) => 'MetricStat' in part).length;
  expect(largest(all('CloudWatch::Alarm').map(({ Metrics }) => read(Metrics)))).toBeLessThanOrEqual(10);
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
  expect(largest(all('CloudWatch::CompositeAlarm').map(({ AlarmRule }) => sizeOf(AlarmRule)))).toBeLessThan(10_240);
  // https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutMetricFilter.html
  const filters = all('Logs::MetricFilter');
  expect(largest(filters.map(({ FilterPattern }) => FilterPattern.length))).toBeLessThanOrEqual(1_024);
  expect(filters.length).toBeLessThanOrEqual(100);
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html
  const { widgets } = JSON.parse(String(deployed(all('CloudWatch::Dashboard')[0]?.DashboardBody)));
  const shown = widgets.map(
    ({ properties }: { properties: { metrics?: unknown[] } }) => properties.metrics?.length ?? 0,
  );
  expect(largest(shown)).toBeLessThanOrEqual(500);
});
