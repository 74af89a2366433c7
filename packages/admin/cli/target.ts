/** The table that a command works on: that of `npm start`, of a deployed stack, or at a given address. */
import { APIGateway } from '@aws-sdk/client-api-gateway';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { SQS } from '@aws-sdk/client-sqs';
import { STS } from '@aws-sdk/client-sts';
import { Endpoint, isEndpoint } from '../../../lib/aws/endpoint.ts';
import { PATIENT } from '../../../lib/aws/http-handler.ts';
import { connectTable, type Table } from '../../../lib/table/client.ts';
import { createGatewayKeys, type GatewayKeys } from '../accounts/gateway-keys.ts';
import { clientConfig } from '../aws/client-config.ts';
import { connectIngestQueues, countMessages, type IngestQueues } from '../ingest/queues.ts';
import { createLocalGatewayKeys } from '../local-service/local-gateway-keys.ts';
import { LOCAL_TABLE_NAME } from '../local-service/local-table.ts';
import { isLoopback } from '../local-service/loopback.ts';
import { listRunning } from '../local-service/running.ts';
import { type Measured, measureLocal } from '../status/measured.ts';
import { measureStack } from '../status/stack-figures.ts';
import { localUser } from './audit-trail.ts';
import { ask, CliError, type Io, say, UsageError } from './io.ts';

export interface TargetOptions {
  endpoint?: string;
  table?: string;
  region?: string;
  stack?: string;
  service?: string;
  yes?: boolean;
}

export interface Target {
  readonly table: Table;
  /** A DynamoDB-compatible server; undefined: AWS. */
  readonly endpoint: Endpoint | undefined;
  readonly region: string | undefined;
  /** URL of the `npm start` service through which the table was found; absent: it was found in another way. */
  readonly service?: string;
  /** Makes gateway keys; undefined: there is no usage plan to attach them to. */
  readonly gatewayKeys: GatewayKeys | undefined;
  /** Approximate number of messages in the dead-letter queue of merges; absent: unknown. */
  readonly deadLetters?: () => Promise<number | undefined>;
  /** Base address of the API that serves the table; absent: unknown. */
  readonly url?: string | undefined;
  /** With a domain: the base address of the API without it. */
  readonly defaultUrl?: string | undefined;
  /** Reads the figures of the service, from CloudWatch or `npm start`; absent: there are none. */
  readonly measure?: () => Promise<Measured>;
  /** Of a stack: whether its last deployment made it a standby, so that another region writes to the table. */
  readonly standby?: boolean;
  /** The setting of the stack; absent: unknown. */
  readonly endedAlertDays?: number;
  /** Of a stack: whether its last deployment has ended, so that all of its functions have their settings. */
  readonly isDeployed?: boolean;
  /** The setting of the stack; 0: there is none, or the service has one region. */
  readonly regionDigit: number;
  readonly outputs?: ReadonlyMap<string, string>;
  /** The feed's queues; absent: unknown. */
  readonly ingestQueues?: IngestQueues;
  close(): void;
}

/** @throws UsageError if the options do not name exactly one table, CliError if what they name does not exist */
export async function connectTarget(options: TargetOptions, env: Io['env']): Promise<Target> {
  const { stack, service } = options;
  if (service !== undefined && (stack ?? options.table ?? options.endpoint ?? options.region) !== undefined)
    throw new UsageError('--service already names the table: do not pass --stack, --table, --endpoint or --region.');
  const region = options.region || env.AWS_REGION || env.AWS_DEFAULT_REGION;
  if (stack !== undefined) {
    if (options.table !== undefined || options.endpoint !== undefined)
      throw new UsageError('--stack already names the table: do not pass --table or --endpoint.');
    return connectStack(stack, region);
  }
  // An option that names another table takes precedence over the environment.
  const endpoint = options.endpoint ?? ((options.region ?? service) === undefined ? env.DYNAMODB_ENDPOINT : undefined);
  if (endpoint !== undefined) {
    const source = options.endpoint === undefined ? 'DYNAMODB_ENDPOINT' : '--endpoint';
    if (!isEndpoint(endpoint)) throw new UsageError(`${source} must be a URL, such as http://localhost:8000.`);
    return connect({ tableName: options.table ?? env.TABLE_NAME ?? LOCAL_TABLE_NAME, endpoint });
  }
  if (options.table !== undefined) return connect({ tableName: options.table, region });
  if (options.region !== undefined)
    throw new UsageError('--region alone names no table: pass --stack NAME or --table NAME, too.');
  const running = findRunning(service ?? env.SERVICE_URL);
  const { url } = running;
  return {
    ...connect(running),
    service: url,
    url,
    measure: () => measureLocal(url),
    deadLetters: async () => (await measureLocal(url)).dead_letters,
    ...connectIngestQueues(new Map(Object.entries(running.outputs)), undefined),
  };
}

async function connectStack(stack: string, region: string | undefined): Promise<Target> {
  const { Stacks = [] } = await new CloudFormation(clientConfig(region)).describeStacks({ StackName: stack });
  const { Outputs = [], Parameters = [], StackStatus = '' } = Stacks[0] ?? {};
  const outputs = new Map(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
  const [tableName, accountPlanId] = [outputs.get('TableName'), outputs.get('AccountPlanId')];
  if (!tableName || !accountPlanId)
    throw new CliError(`Stack ${stack} has no outputs TableName and AccountPlanId: it is not a stack of this service.`);
  const deadLettersUrl = outputs.get('DeadLettersUrl');
  const endedAlertDays = outputs.get('EndedAlertDays');
  return {
    ...connect({ tableName, region, accountPlanId }),
    ...connectIngestQueues(outputs, region),
    ...(deadLettersUrl && { deadLetters: () => countDeadLetters(deadLettersUrl, region) }),
    url: outputs.get('Url'),
    defaultUrl: outputs.get('DefaultUrl'),
    outputs,
    ...(endedAlertDays && { endedAlertDays: Number(endedAlertDays) }),
    isDeployed: /COMPLETE(_CLEANUP_IN_PROGRESS)?$/.test(StackStatus),
    regionDigit: Number(outputs.get('RegionDigit') ?? 0),
    standby: Parameters.some(({ ParameterKey: name, ParameterValue: value }) => name === 'Standby' && value === 'true'),
    measure: () => measureStack({ stack, tableName, region, outputs }, Date.now()),
  };
}

/** @throws CliError if the target's outputs do not name the feed's queues */
export function requireIngestQueues({ ingestQueues }: Target): IngestQueues {
  if (!ingestQueues)
    throw new CliError('The feed is not known here: pass --stack NAME, or start the service with `npm start`.');
  return ingestQueues;
}

/** The running service: the one at the URL, or the only one. @throws UsageError unless there is exactly one */
function findRunning(url: string | undefined) {
  const running = listRunning().filter((service) => url === undefined || service.url === url.replace(/\/$/, ''));
  const [service, ...others] = running;
  if (!service)
    throw new UsageError(
      url === undefined
        ? 'No service is running: start one with `npm start`, or pass --stack NAME, --table NAME or --endpoint URL.'
        : `No \`npm start\` service is running at ${url}.`,
    );
  if (others.length > 0)
    throw new UsageError(
      `Several services are running: choose one with --service ${running.map((s) => s.url).join(' or ')}.`,
    );
  return service;
}

/** Where a table is, and the usage plan of its stack. */
interface TableLocation {
  tableName: string;
  endpoint?: string | undefined;
  region?: string | undefined;
  accountPlanId?: string;
}

function connect({ tableName, endpoint, region, accountPlanId }: TableLocation): Target {
  const table = connectTable({ name: tableName, endpoint, region, ...PATIENT });
  const server = endpoint === undefined ? undefined : new Endpoint(endpoint);
  const target = { table, endpoint: server, region, regionDigit: 0, close: () => table.client.destroy() };
  if (server) return { ...target, gatewayKeys: createLocalGatewayKeys(table) };
  if (accountPlanId === undefined) return { ...target, gatewayKeys: undefined };
  return { ...target, gatewayKeys: createGatewayKeys(new APIGateway(clientConfig(region)), table, accountPlanId) };
}

/** Approximate number of visible and in-flight messages of a dead-letter queue. */
async function countDeadLetters(queueUrl: string, region: string | undefined): Promise<number> {
  const { waiting, underWay } = await countMessages(new SQS(clientConfig(region)), queueUrl);
  return waiting + underWay;
}

/** Prints the target of a write and asks for confirmation, unless the target is local or --yes was given. */
export async function confirmWrite(target: Target, options: TargetOptions, io: Io): Promise<void> {
  if (isOnThisMachine(target)) return;
  say(io, `This writes to ${await targetText(target)}.`);
  await confirm(target, options, io);
}

/** Asks for confirmation, unless the target is local or --yes was given. */
export async function confirm(target: Target, options: TargetOptions, io: Io): Promise<void> {
  if (options.yes || isOnThisMachine(target)) return;
  const answer = await ask(io, 'Continue? [y/N] ', { elsewhere: 'Pass --yes to write there without confirmation.' });
  if (!/^y(es)?$/i.test(answer)) throw new CliError('Nothing was written.');
}

export const isOnThisMachine = ({ endpoint }: Target) =>
  endpoint !== undefined && isLoopback(new URL(endpoint.url).hostname);

export async function targetText(target: Target): Promise<string> {
  const { table, endpoint } = target;
  if (endpoint !== undefined) return `table ${table.name} at ${endpoint}`;
  const { account, region } = await identify(target);
  return `table ${table.name} of AWS account ${account} in ${region}`;
}

/** Who writes to a target, for the audit. */
export const operatorOf = async (target: Target): Promise<string> =>
  target.endpoint === undefined ? (await identify(target)).arn : localUser();

/** The AWS account and identity of the credentials, and the region that calls go to. */
export async function identify({
  region,
}: Pick<Target, 'region'>): Promise<{ account: string; arn: string; region: string }> {
  const client = new STS(clientConfig(region));
  const { Account = 'unknown', Arn = 'unknown' } = await client.getCallerIdentity({});
  return { account: Account, arn: Arn, region: await client.config.region() };
}
