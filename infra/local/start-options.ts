/** The options of `npm start`. Loads little, so that wrong ones are reported at once. */
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { FAILURES, type Failure, isFailure } from './failing-table.ts';
import { StartError } from './start-error.ts';

const failureLines = () =>
  Object.entries(FAILURES)
    .map(([name, seen]) => `                 ${name.padEnd(11)}  ${seen}`)
    .join('\n');

export const HELP = `Usage: npm start -- [options]

Starts the service on this machine: DynamoDB Local, the table, sample data, and HTTP.
Set DYNAMODB_ENDPOINT to use another DynamoDB-compatible server instead of DynamoDB Local.

  --port N     listen on 127.0.0.1:N (default 3000)
  --data FILE  load FILE (newline-delimited JSON, see docs/data-format.md) instead of the sample data
  --db DIR     keep the database in DIR; if it holds data, no sample data is loaded
  --limits aws enforce DynamoDB's limits, and Lambda's CPU share for each function
  --fail PART  make a part of the table fail, to test your program (can be repeated):
${failureLines()}
  --watch      reload changed files of lib/ and functions/ before the next call; data is kept
  --inspect    let a debugger attach to port 9229
  --help       show this help
`;

/** Wrong use of the command: exit code 2. */
export class UsageError extends Error {}

export interface Options {
  port: number;
  data: string | undefined;
  db: string | undefined;
  limits: boolean;
  fail: readonly Failure[];
  watch: boolean;
  inspect: boolean;
}

export function readOptions(): Options | 'help' {
  let values: { [Name in 'port' | 'data' | 'db' | 'limits']?: string } & { fail?: string[] } & {
    [Name in 'watch' | 'inspect' | 'help']?: boolean;
  };
  try {
    const options = {
      port: { type: 'string' },
      data: { type: 'string' },
      db: { type: 'string' },
      limits: { type: 'string' },
      fail: { type: 'string', multiple: true },
      watch: { type: 'boolean' },
      inspect: { type: 'boolean' },
      help: { type: 'boolean' },
    } as const;
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See npm start -- --help.`);
  }
  if (values.help) return 'help';
  const { port = '3000', limits } = values;
  if (limits !== undefined && limits !== 'aws') throw new UsageError(`--limits must be aws, not "${limits}".`);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, not "${port}".`);
  const { fail = [] } = values;
  if (!fail.every(isFailure)) throw new UsageError(`--fail must be one of ${Object.keys(FAILURES).join(', ')}.`);
  const { data, db, watch = false, inspect = false } = values;
  return { port: Number(port), data, db, limits: limits !== undefined, fail, watch, inspect };
}

/** Before anything is started: the port is free, and the data file can be read. */
export async function checkFirst({ port, data }: Options): Promise<void> {
  const probe = createServer().listen(port, '127.0.0.1');
  await once(probe, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(
      error.code === 'EADDRINUSE'
        ? `Port ${port} is in use (perhaps by another npm start): stop that process, or choose another port with --port.`
        : `Cannot listen on port ${port} (${error.code}): choose another port with --port.`,
    );
  });
  await once(probe.close(), 'close');
  if (data !== undefined)
    await access(data).catch((error: NodeJS.ErrnoException) => {
      throw new StartError(`Cannot read ${data} (${error.code}): check --data.`);
    });
}
