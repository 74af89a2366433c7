import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, vi } from 'vitest';
import type { Table } from '../../../../lib/table/client.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { isAlive } from '../../../admin/local-service/running.ts';
import { type LocalServiceOptions, startService } from '../../local-service.ts';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Starts the service in this process, on a table of the tests' DynamoDB. */
export const serveTable = ({ name }: Table, options: Partial<LocalServiceOptions> = {}) =>
  startService({ template: inject('template'), endpoint: dynamodbEndpoint(), tableName: name, port: 0, ...options });

/** Runs the start command and waits until it serves, or ends. */
export async function start(args: string[], env: Record<string, string | undefined> = {}, cwd: string = root) {
  const child = spawn(process.execPath, ['packages/local/start.ts', ...args], {
    cwd,
    env: { ...process.env, ...env },
  });
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

/** Calls an operation of a service. */
export async function callService(url: string, path: string, appKey: string, body: object = {}) {
  const response = await fetch(`${url}${path}?app_key=${appKey}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const envelope = (await response.json()) as {
    data?: Record<string, unknown>;
    error?: { code: string; message: string };
  };
  return { status: response.status, headers: response.headers, body: envelope };
}

/** Ids of the running processes that a process has started, and of those that these have started. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(() => ({
    stdout: '',
  }));
  const children = stdout
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map(Number);
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()];
}

/** Ends a service that `start` started, and expects that all its processes end with it. @param exitCode null if the signal kills it */
export async function stopsOn(
  signal: NodeJS.Signals,
  { child, ended }: Awaited<ReturnType<typeof start>>,
  exitCode: number | null = 0,
): Promise<void> {
  const processes = await descendantsOf(child.pid as number);
  // At least DynamoDB Local and its supervisor.
  expect(processes.length).toBeGreaterThanOrEqual(2);
  child.kill(signal);
  expect(await ended).toBe(exitCode);
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), 30_000);
}

const SERVICE_FILES = [
  'lib',
  'functions',
  'infra',
  'packages',
  'cdk.json',
  'openapi.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/** Copies what `npm start` runs into a folder of its own, in which sources may be changed. @returns its path */
export function copyService(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-'));
  for (const name of SERVICE_FILES) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
