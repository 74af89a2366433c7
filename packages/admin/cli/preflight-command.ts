/** Checks what an AWS account and region lack for a deployment. docs/deploy.md lists the quotas. */
import { APIGateway, paginateGetApiKeys, paginateGetUsagePlans } from '@aws-sdk/client-api-gateway';
import { CloudFormation, type Stack } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { Lambda } from '@aws-sdk/client-lambda';
import type { DeploymentSettings } from '../../../infra/stack-settings.ts';
import { operations } from '../../../lib/operations/index.ts';
import { clientConfig } from '../aws/client-config.ts';
import { line } from '../text/printable.ts';
import { type AdminCommand, jsonOption } from './command.ts';
import { FoundError, type Io, print, printJson } from './io.ts';
import {
  change,
  concurrencyFindings,
  type Finding,
  keptFindings,
  leftoverFindings,
  ok,
  readSettings,
} from './preflight-settings.ts';
import { identify } from './target.ts';

/** The folder of cdk.json. */
const ROOT = new URL('../../../', import.meta.url);

/** Operations of the API, each of which has a stage rate of its own. */
const OPERATIONS = operations.length;
/** API Gateway's quotas in an account and region (docs/deploy.md). The first cannot be raised. */
const MAX_GATEWAY_KEYS = 10_000;
const MAX_USAGE_PLANS = 300;
/** Preflight warns at this share of a quota. */
const NEARLY_ALL = 0.9;
const PAGE_SIZE = 500;
/** The version of the bootstrap that the CDK of package.json requires. */
const BOOTSTRAP_VERSION = 6;

type NamedFinding = Finding & { what: string };

interface Options {
  region?: string;
  stack?: string;
  context: string[];
  json?: boolean;
}

export function addPreflightCommand(program: AdminCommand, io: Io): void {
  program
    .command('preflight')
    .explain(
      'Check what an AWS account and region lack for a deployment with the settings of cdk.json and --context. Reads only. Exit code 3 if something must be changed, or could not be read.',
      'preflight --region eu-west-1 -c reservedConcurrency=400',
    )
    .option('-c, --context <name=value>', 'a setting, as for cdk deploy; can be repeated', collect, [])
    .option(...jsonOption)
    .action(async (_options: unknown, command: AdminCommand) => {
      const options = command.optsWithGlobals<Options>();
      const findings = await preflight(options, io.env);
      if (options.json) printJson(io, findings);
      else for (const finding of findings) print(io, lineOf(finding));
      const unresolved = findings.filter(({ verdict }) => verdict !== 'ok').length;
      if (unresolved > 0)
        throw new FoundError(`${unresolved} to resolve: see "Before the first deployment" in docs/deploy.md.`);
    });
}

const collect = (value: string, previous: string[]) => [...previous, value];

const lineOf = ({ what, ...finding }: NamedFinding) =>
  line`${finding.verdict.padEnd(7)} ${what}: ${finding.found}${finding.verdict === 'change' ? `. ${finding.advice}` : ''}`;

/** Runs all checks. One that fails becomes a finding, and does not end the others. */
async function preflight({ region, stack: stackOption, context }: Options, env: Io['env']): Promise<NamedFinding[]> {
  const settings = readSettings(stackOption === undefined ? context : [...context, `stackName=${stackOption}`], ROOT);
  const resolvedRegion = region || env.AWS_REGION || env.AWS_DEFAULT_REGION;
  const config = clientConfig(resolvedRegion);
  const found = describeStack(config, settings.stackName);
  const checks: [string, () => Promise<Finding | Finding[]>][] = [
    ['Lambda', async () => checkLambda(config, settings, (await found) !== undefined)],
    ['API Gateway', async () => checkApiGateway(config, settings.stageRate, (await found) !== undefined)],
    ['CDK bootstrap', () => checkBootstrap(config)],
    ['stack and table', async () => checkStackAndTables(config, settings, await found)],
    ['settings', async () => leftoverFindings(settings, await identify({ region: resolvedRegion }))],
  ];
  const findings = await Promise.all(
    checks.map(async ([what, check]) => {
      try {
        return [await check()].flat().map((finding) => ({ what, ...finding }));
      } catch (error) {
        return { what, verdict: 'unknown' as const, found: (error as Error).message };
      }
    }),
  );
  return findings.flat();
}

type ClientConfig = ReturnType<typeof clientConfig>;

async function checkLambda(
  config: ClientConfig,
  settings: DeploymentSettings,
  isDeployed: boolean,
): Promise<Finding[]> {
  const { AccountLimit = {} } = await new Lambda(config).getAccountSettings({});
  const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit;
  return concurrencyFindings({ all, free }, settings, isDeployed);
}

async function checkApiGateway(config: ClientConfig, stageRate: number, isDeployed: boolean): Promise<Finding[]> {
  const client = new APIGateway(config);
  const { throttleSettings, cloudwatchRoleArn } = await client.getAccount({});
  const [keys, plans] = await Promise.all([
    countItems(paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, {})),
    countItems(paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, {})),
  ]);
  const rate = throttleSettings?.rateLimit ?? 0;
  const found = `${rate} calls a second for all APIs of the region`;
  return [
    rate >= OPERATIONS * stageRate
      ? ok(found)
      : change(
          found,
          `${OPERATIONS} operations with stageRate ${stageRate} can exceed it: ask for more (quota L-8A5B8E43), or deploy with -c stageRate=${Math.floor(rate / OPERATIONS)}`,
        ),
    roleFinding(cloudwatchRoleArn, isDeployed),
    countFinding(keys, MAX_GATEWAY_KEYS, 'gateway keys', 'each account needs one: use another region'),
    countFinding(plans, MAX_USAGE_PLANS, 'usage plans', 'a stack needs two: ask AWS for more'),
  ];
}

async function countItems(pages: AsyncIterable<{ items?: object[] | undefined }>): Promise<number> {
  return (await Array.fromAsync(pages)).flatMap(({ items = [] }) => items).length;
}

function countFinding(count: number, max: number, what: string, advice: string): Finding {
  const found = `${count} of at most ${max} ${what} of the region`;
  return count < NEARLY_ALL * max ? ok(found) : change(found, advice);
}

/** Finding on the role with which API Gateway writes logs: a region has one for all its APIs. */
function roleFinding(arn: string | undefined, isDeployed: boolean): Finding {
  if (isDeployed) return ok('role for logs: not checked, since the stack is deployed');
  if (arn === undefined) return ok('no role for logs yet: the stack makes it');
  return change(`its role for logs is ${arn}`, 'Other APIs use it: deploy with -c apiGatewayAccount=false');
}

async function describeStack(config: ClientConfig, name: string): Promise<Stack | undefined> {
  try {
    const { Stacks } = await new CloudFormation(config).describeStacks({ StackName: name });
    return Stacks?.[0];
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return undefined;
    throw error;
  }
}

async function checkBootstrap(config: ClientConfig): Promise<Finding> {
  const stack = await describeStack(config, 'CDKToolkit');
  const advice = 'Run npx cdk bootstrap';
  if (!stack) return change('missing', advice);
  const version = Number(stack.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue ?? 0);
  const found = `version ${version}`;
  return version >= BOOTSTRAP_VERSION ? ok(found) : change(found, advice);
}

/**
 * Whether the stack exists, and if it does, what a deployment would change of its table and freeze; if not, the tables that an earlier one, or a
 * failed first deployment, left behind.
 */
async function checkStackAndTables(
  config: ClientConfig,
  settings: DeploymentSettings,
  stack: Stack | undefined,
): Promise<Finding[]> {
  const { stackName: name } = settings;
  if (stack) {
    const { StackStatus, Parameters = [] } = stack;
    const deployed = new Map(Parameters.map(({ ParameterKey, ParameterValue }) => [ParameterKey, ParameterValue]));
    return [ok(`stack ${name} is deployed (${StackStatus}): this is an update`), ...keptFindings(settings, deployed)];
  }
  const tables: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client: new DynamoDBClient(config) }, {}))
    tables.push(...TableNames.filter((table) => table.startsWith(`${name}-Table`)));
  if (tables.length === 0) return [ok(`no stack ${name}, and no table of one`)];
  return tables.map((table) =>
    change(
      `table ${table} is left over from an earlier stack ${name}`,
      `A deployment makes a second, empty table: adopt ${table} (docs/deploy.md, "Tear down and come back"), or delete it if its data is not needed`,
    ),
  );
}
