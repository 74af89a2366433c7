/**
 * Walks through the life of a deployment on an emulator of AWS, with the commands of docs/deploy.md and docs/restore.md: bootstrap,
 * deploy, freeze, update, deploy an ephemeral stage beside it, let an update fail, roll back, destroy, adopt the table that was kept.
 */
import { strict as assert } from 'node:assert';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { createClient } from '../../packages/client/src/index.ts';
import { shell, until } from '../support/processes.ts';
import { tryIngestQueue } from './ingest-queue.ts';
import { startEmulator } from './ministack.ts';

const STACK = 'IncidentMonitoringRum';
const ACCOUNT = 42;
using temporary = mkdtempDisposableSync(join(tmpdir(), 'deployment-'));
const folder = temporary.path;
const outputsFile = join(folder, 'outputs.json');
await using emulator = await startEmulator();
/** The app key of the account; never printed. */
let appKey = '';

const cdk = (args: string) =>
  shell(`cdk ${args} --app 'node .ci/emulator/app.ts' --output ${folder}/out`, emulator.env);
const deploy = (context = '') => cdk(`deploy --require-approval never --outputs-file ${outputsFile} ${context}`);
const admin = (args: string) => shell(`npm run --silent admin -- ${args}`, emulator.env);
const onStack = `--stack ${STACK} --yes`;

/** Deploys and destroys a second stage, with its own table, account and keys. @returns the name of its table, which no longer exists */
async function trySecondStage(): Promise<string> {
  const stage = 'Preview';
  const context = `-c stackName=${stage} -c ephemeral=true -c apiGatewayAccount=false`;
  const file = join(folder, 'preview.json');
  await cdk(`deploy --require-approval never --outputs-file ${file} ${context}`);
  const { TableName: table } = JSON.parse(readFileSync(file, 'utf8'))[stage];
  if (table === outputs().TableName) throw new Error('two stages share a table');
  await admin(`account create ${ACCOUNT} --name Preview --stack ${stage} --yes`);
  const key = (await admin(`app-key issue --account ${ACCOUNT} --stack ${stage} --yes`)).trim();
  await assert.rejects(clientOf(key).getRumResource(), { status: 401 }, 'a key of one stage at the other');
  await cdk(`destroy --force ${context}`);
  if (await describe(table)) throw new Error('the table of an ephemeral stage is still there');
  if (!(await describe(outputs().TableName ?? ''))) throw new Error('the table of the other stage is gone');
  return table;
}

async function removeGatewayKey(table: string): Promise<void> {
  const printed = await admin(`gateway-keys remove --table ${table} --yes`);
  if (!printed.includes('1 gateway keys deleted')) throw new Error(printed);
}

/** The outputs of the stack's last deployment. */
const outputs = (): Record<string, string> => JSON.parse(readFileSync(outputsFile, 'utf8'))[STACK];
/** The address at which the emulator serves the API of the output `Url`. */
function urlOf(): string {
  const { hostname, pathname } = new URL(outputs().Url ?? '');
  return `${emulator.endpoint}/_aws/execute-api/${hostname.split('.')[0]}${pathname.replace(/\/$/, '')}`;
}

async function step<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  const result = await action();
  process.stdout.write(`ok ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s)\n`);
  return result;
}

async function smoke(): Promise<void> {
  await shell(`npm run --silent smoke -- --url ${urlOf()}`, { APP_KEY: appKey });
}

/**
 * Runs the certificate (docs/internals/reliability.md) of the operations that write. Leaves out the fleet, whose checks wait for the
 * rate limit.
 */
const certifyWrites = () =>
  shell(`npm run --silent certify -- --url ${urlOf()} --run emulator --only 4.3 4.4`, { APP_KEY: appKey });

/** Makes an account with the data of the certificate, less most of its hosts. */
async function addAccount(): Promise<void> {
  await admin(`account create ${ACCOUNT} --name Emulated --permission monit ${onStack}`);
  appKey = (await admin(`app-key issue --account ${ACCOUNT} ${onStack}`)).trim();
  const data = `npm run --silent certify -- --data ${ACCOUNT} --run emulator | grep -v filler`;
  await shell(`${data} | npm run --silent admin -- import - ${onStack}`, emulator.env);
}

/** Waits until a failed update is rolled back: the CDK command may end earlier. */
const untilRolledBack = () =>
  until('the stack is rolled back after an update that failed', async () => {
    const { Stacks } = await new CloudFormation(emulator.clientOptions).describeStacks({ StackName: STACK });
    return Stacks?.[0]?.StackStatus === 'UPDATE_ROLLBACK_COMPLETE';
  });

/** @returns undefined if there is no such table */
async function describe(table: string) {
  try {
    return (await new DynamoDB(emulator.clientOptions).describeTable({ TableName: table })).Table;
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/** A client that waits for no rate limit or service. */
const clientOf = (key: string) => createClient({ url: urlOf(), appKey: key, maxWaitMs: 0 });

const ingestRecords = () =>
  tryIngestQueue({ emulator, outputs: outputs(), account: ACCOUNT, client: clientOf(appKey) });

/** Reads are answered while writes are frozen. */
async function tryFreeze(): Promise<void> {
  await refused('This deployment changes writesFrozen', '-c writesFrozen=true');
  await deploy('-c writesFrozen=true --parameters WritesFrozen=true');
  const client = clientOf(appKey);
  await assert.rejects(client.deleteWorkItem({ work_item_id: 'frozen', version: 1 }), { status: 503 });
  await client.getRumResource();
  await refused('This deployment changes writesFrozen');
}

/** Deploys, which CloudFormation must refuse with these words. */
async function refused(words: string, context = ''): Promise<void> {
  await assert.rejects(deploy(context), ({ message }: Error) => message.includes(words));
}

async function walk(): Promise<void> {
  await step('bootstrap', () => cdk('bootstrap'));
  await step('deploy', () => deploy('-c maxBodyBytes=65536'));
  await step('account, app key, data', addAccount);
  await step('freeze writes', tryFreeze);
  // The certificate expects the default size.
  await step('update, which ends the freeze', () => deploy('--parameters WritesFrozen=false'));
  await step('records from the ingest queue are served, and an event is published', ingestRecords);
  await step('certificate of the operations that write', certifyWrites);
  const previewTable = await step('an ephemeral stage beside it, destroyed with its table', trySecondStage);
  await step('a failed update is rolled back', async () => {
    await assert.rejects(deploy('-c emulator:break=true -c maxBodyBytes=1024'));
    await untilRolledBack();
  });
  await step('smoke test', smoke);
  const table = outputs().TableName ?? '';
  await step('destroy', () => cdk('destroy --force'));
  // Before the next deployment creates a usage plan, since the emulator lists each key under every plan.
  await step('remove the gateway keys', async () => {
    for (const name of [table, previewTable]) await removeGatewayKey(name);
  });
  await step('adopt the table', async () => deploy(`-c adoptTable=${(await describe(table))?.LatestStreamArn}`));
  await step('a deployment without the table is refused', () => refused('This deployment changes adoptTable'));
  await step('make the gateway keys', () => admin(`gateway-keys create ${onStack}`));
  await step('smoke test', smoke);
  await step('destroy', () => cdk('destroy --force'));
}

try {
  await walk();
} catch (error) {
  process.stdout.write(`The emulator's last lines:\n${emulator.log().slice(-4_000)}\n`);
  throw error;
}
