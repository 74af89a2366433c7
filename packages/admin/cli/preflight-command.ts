/** What the account and region of a first deployment lack: read only. The quotas are in docs/deploy.md. */
import type { Stack } from '@aws-sdk/client-cloudformation';
import type { AdminCommand } from './command.ts';
import { CliError, type Io, print, printJson } from './io.ts';

/** As `infra/app.ts` names it. */
const STACK = 'IncidentMonitoringRum';
/** Functions that may run at once: fewer leave nothing to reserve, since Lambda keeps 100 for functions without a reservation. */
const LEAST_CONCURRENCY = 200;
/** That of `infra/stack-settings.ts` unless it is given. */
const STAGE_RATE = 1_000;
/** All operations can be called at their stage rate at once. */
const OPERATIONS = 4;
/** The version of the bootstrap that the CDK of package.json requires. */
const BOOTSTRAP_VERSION = 6;

type Verdict = 'ok' | 'change' | 'unknown';
interface Finding {
  what: string;
  verdict: Verdict;
  found: string;
  /** What to do, where something is to be done. */
  advice?: string;
}

interface Options {
  region?: string;
  stack?: string;
  stageRate?: number;
  json?: boolean;
}

export function addPreflightCommand(program: AdminCommand, io: Io): void {
  program
    .command('preflight')
    .explain(
      'Say what an AWS account and region lack for a first deployment. Reads only. Exit code 1 if something is to be changed, or could not be read.',
      'preflight --region eu-west-1',
    )
    .option('--stage-rate <rate>', 'the stageRate of the deployment (default: 1,000)', Number)
    .option('--json', 'print JSON')
    .action(async (_options: unknown, command: AdminCommand) => {
      const options = command.optsWithGlobals<Options>();
      const findings = await preflight(options, io.env);
      if (options.json) printJson(io, findings);
      else for (const finding of findings) print(io, lineOf(finding));
      const open = findings.filter(({ verdict }) => verdict !== 'ok').length;
      if (open > 0) throw new CliError(`${open} to settle: see "Before the first deployment" in docs/deploy.md.`);
    });
}

const lineOf = ({ what, verdict, found, advice }: Finding) =>
  `${verdict.padEnd(7)} ${what}: ${found}${advice ? `. ${advice}` : ''}`;

/** A check that fails says so, and the others go on. */
async function preflight(
  { region, stack = STACK, stageRate = STAGE_RATE }: Options,
  env: Io['env'],
): Promise<Finding[]> {
  const of = region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  const client = of === undefined ? {} : { region: of };
  const checks: [string, () => Promise<Omit<Finding, 'what'> | Omit<Finding, 'what'>[]>][] = [
    ['Lambda concurrency', () => concurrency(client)],
    ['API Gateway', () => gateway(client, stageRate)],
    ['CDK bootstrap', () => bootstrap(client)],
    ['stack and table', () => leftOver(client, stack)],
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

type Region = { region?: string };

async function concurrency(region: Region): Promise<Omit<Finding, 'what'>> {
  const { GetAccountSettingsCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
  const { AccountLimit } = await new LambdaClient(region).send(new GetAccountSettingsCommand({}));
  const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
  const found = `${all} executions at once, ${free} of them not reserved`;
  if (free >= LEAST_CONCURRENCY) return { verdict: 'ok', found };
  return {
    verdict: 'change',
    found,
    advice: `Ask for 1000: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`,
  };
}

async function gateway(region: Region, stageRate: number): Promise<Omit<Finding, 'what'>[]> {
  const { APIGatewayClient, GetAccountCommand } = await import('@aws-sdk/client-api-gateway');
  const { throttleSettings, cloudwatchRoleArn } = await new APIGatewayClient(region).send(new GetAccountCommand({}));
  const rate = throttleSettings?.rateLimit ?? 0;
  const found = `${rate} calls a second for all APIs of the region`;
  return [
    rate >= OPERATIONS * stageRate
      ? { verdict: 'ok', found }
      : {
          verdict: 'change',
          found,
          advice: `${OPERATIONS} operations with stageRate ${stageRate} can exceed it: ask for more (quota L-8A5B8E43), or deploy with -c stageRate=${Math.floor(rate / OPERATIONS)}`,
        },
    cloudwatchRoleArn === undefined
      ? { verdict: 'ok', found: 'no role for logs yet: the stack makes it' }
      : {
          verdict: 'change',
          found: `its role for logs is ${cloudwatchRoleArn}`,
          advice: 'Other APIs use it: deploy with -c apiGatewayAccount=false',
        },
  ];
}

async function describe(region: Region, name: string): Promise<Stack | undefined> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  try {
    const { Stacks } = await new CloudFormationClient(region).send(new DescribeStacksCommand({ StackName: name }));
    return Stacks?.[0];
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return undefined;
    throw error;
  }
}

async function bootstrap(region: Region): Promise<Omit<Finding, 'what'>> {
  const stack = await describe(region, 'CDKToolkit');
  const advice = 'Run npx cdk bootstrap';
  if (!stack) return { verdict: 'change', found: 'missing', advice };
  const version = Number(stack.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue ?? 0);
  const found = `version ${version}`;
  return version >= BOOTSTRAP_VERSION ? { verdict: 'ok', found } : { verdict: 'change', found, advice };
}

/** A table that a destroyed stack, or a failed first deployment, left behind. */
async function leftOver(region: Region, name: string): Promise<Omit<Finding, 'what'>[]> {
  const { DynamoDBClient, paginateListTables } = await import('@aws-sdk/client-dynamodb');
  const stack = await describe(region, name);
  if (stack) return [{ verdict: 'ok', found: `stack ${name} is deployed (${stack.StackStatus}): this is an update` }];
  const tables: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client: new DynamoDBClient(region) }, {}))
    tables.push(...TableNames.filter((table) => table.startsWith(`${name}-Table`)));
  if (tables.length === 0) return [{ verdict: 'ok', found: `no stack ${name}, and no table of one` }];
  return tables.map((table) => ({
    verdict: 'change',
    found: `table ${table} is left of an earlier stack ${name}`,
    advice: 'A deployment makes a new, empty one: adopt it (docs/deploy.md, "Tear down and come back"), or delete it',
  }));
}
