import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { SQS } from '@aws-sdk/client-sqs';
import { afterAll, expect, inject, vi } from 'vitest';
import { PATIENT } from '../../../../lib/aws/http-handler.ts';
import { clientConfig, type Table } from '../../../../lib/table/client.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { loadData } from '../../../admin/data/load.ts';
import { createLocalGatewayKeys } from '../../../admin/local-service/local-gateway-keys.ts';
import { isAlive, registerRunning } from '../../../admin/local-service/running.ts';
import { type LocalServiceOptions, startService } from '../../local-service.ts';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Starts the service in this process, on a table of the tests' DynamoDB. */
export const serveTable = ({ name }: Table, options: Partial<LocalServiceOptions> = {}) =>
  startService({ template: inject('template'), endpoint: dynamodbEndpoint(), tableName: name, port: 0, ...options });

/**
 * Starts the service as {@link serveTable} does, as one that the operator's command finds, until the tests of the file end.
 * @returns also its queues of records, and of refused records, a client for them, and what imports lines
 */
export async function serveForOperator(table: Table) {
  const service = await serveTable(table);
  const { url, queueUrls: outputs } = service;
  const { FeedUrl: QueueUrl = '', FeedRefusedUrl: RefusedUrl = '' } = outputs;
  const endpoint = dynamodbEndpoint();
  const forget = registerRunning({ pid: process.pid, url, endpoint, tableName: table.name, outputs });
  const sqs = new SQS({ endpoint: url, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  afterAll(async () => {
    await forget();
    sqs.destroy();
    await service.stop();
  });
  /** Imports lines, older than all that is sent. */
  const load = (...lines: object[]) => {
    const texts = lines.map((line) => JSON.stringify(line));
    return loadData(table, 'test', texts, { nowMs: 1_000, gatewayKeys: createLocalGatewayKeys(table) });
  };
  return { url, outputs, QueueUrl, RefusedUrl, sqs, load };
}

/** Runs the start command, by Node or by `command`, and waits until it serves, or ends. */
export async function start(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  [program, ...words]: [string, ...string[]] = [process.execPath, 'packages/local/start.ts'],
) {
  const child = spawn(program, [...words, ...args], { cwd: root, env: { ...process.env, ...env } });
  let [output, errors] = ['', ''];
  child.stderr.on('data', (chunk) => (errors += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const serving = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Press Ctrl-C to stop')) resolve();
    });
  });
  await Promise.race([serving, ended]);
  const url = /Serving at (\S+)/.exec(output)?.[1] ?? '';
  return { child, ended, url, output: () => output, errors: () => errors };
}

const MAX_REPEATS = 4;

/** Repeats a call whose answer shows that the machine is busy: the functions of `npm start` have production's time limits. */
export async function unlessBusy<Answer>(send: () => Promise<Answer>, isBusy: (answer: Answer) => boolean) {
  let answer = await send();
  for (let repeats = 0; repeats < MAX_REPEATS && isBusy(answer); repeats += 1) answer = await send();
  return answer;
}

/** Calls an operation of a service once. @param body JSON text, or what becomes that */
export async function callOnce(url: string, path: string, appKey: string, body: string | object = {}) {
  const response = await fetch(`${url}${path}?app_key=${appKey}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const envelope = (await response.json()) as {
    data?: Record<string, unknown>;
    error?: { code: string; message: string };
  };
  return { status: response.status, headers: response.headers, body: envelope };
}

/** Calls an operation of a service that may be busy. */
export const callService = (...call: Parameters<typeof callOnce>) =>
  unlessBusy(
    () => callOnce(...call),
    ({ status }) => status === 503,
  );

/** The names of the tables that a caller of a DynamoDB-compatible server sees. */
export async function tablesAt(endpoint: string): Promise<string[] | undefined> {
  const client = new DynamoDBClient(clientConfig({ endpoint, ...PATIENT }));
  const { TableNames } = await client.send(new ListTablesCommand({}));
  client.destroy();
  return TableNames;
}

/** Ids of the running processes that a process has started, and of those that these have started. */
export function descendantsOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  const children = stdout.split('\n').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Ends a service that `start` started, and expects that all its processes end with it. @param exitCode null if the signal kills it */
export async function stopsOn(
  signal: NodeJS.Signals,
  { child, ended }: Awaited<ReturnType<typeof start>>,
  exitCode: number | null = 0,
): Promise<void> {
  const processes = descendantsOf(child.pid as number);
  expect(processes).not.toEqual([]);
  child.kill(signal);
  expect(await ended).toBe(exitCode);
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), 30_000);
}
