/** The options of `npm start`. This module imports little, so that wrong options are reported at once. */
import { once } from 'node:events';
import { access, appendFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { CliError, UsageError } from '../admin/cli/io.ts';
import { FAILURES, isFailure } from './failing-table.ts';

const FAILURE_LINES = Object.entries(FAILURES).map(
  ([name, effect]) => `                 ${name.padEnd(11)}  ${effect}`,
);

export const HELP = `Usage: npm start -- [options]

Starts the service on this machine: DynamoDB Local, the table, sample data, and HTTP.
Set DYNAMODB_ENDPOINT to use another DynamoDB-compatible server instead of DynamoDB Local.

  --port N     listen on 127.0.0.1:N (default 3000)
  --data FILE  load FILE (newline-delimited JSON, see docs/data-format.md) instead of the sample data
  --db DIR     keep the database in DIR; if it holds data, no sample data is loaded
  --fail PART  make a part of the table fail, to test your program (can be repeated):
${FAILURE_LINES.join('\n')}
  --events FILE  append each event that the service publishes to FILE, a line of JSON each
  --still      the sample's hosts send no reports, so that the fleet does not change
  --inspect    let a debugger attach to port 9229
  --help       show this help
`;

export type Options = NonNullable<ReturnType<typeof readOptions>>;

/** @returns undefined if the user asks for help @throws UsageError */
export function readOptions() {
  const { help, port, fail, ...others } = parse();
  if (help) return undefined;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, not "${port}".`);
  if (!fail.every(isFailure)) throw new UsageError(`--fail must be one of ${Object.keys(FAILURES).join(', ')}.`);
  if (others.db !== undefined && process.env.DYNAMODB_ENDPOINT)
    throw new UsageError('--db is for DynamoDB Local: unset DYNAMODB_ENDPOINT, whose server keeps its data itself.');
  return { ...others, port: Number(port), fail };
}

function parse() {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '3000' },
        data: text,
        db: text,
        events: text,
        fail: { type: 'string', multiple: true, default: [] },
        still: flag,
        inspect: flag,
        help: flag,
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See npm start -- --help.`);
  }
}

/** Checks, before anything is started, that the port is free and the files can be opened. */
export async function checkFirst({ port, data, events }: Options): Promise<void> {
  const probe = createServer().listen(port, '127.0.0.1');
  await once(probe, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      error.code === 'EADDRINUSE'
        ? `Port ${port} is in use (perhaps by another npm start): stop that process, or choose another port with --port.`
        : `Cannot listen on port ${port} (${error.code}): choose another port with --port.`,
    );
  });
  await once(probe.close(), 'close');
  if (data !== undefined)
    await access(data).catch((error: NodeJS.ErrnoException) => {
      throw new CliError(`Cannot read ${data} (${error.code}): check --data.`);
    });
  if (events !== undefined)
    await appendFile(events, '', { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      throw new CliError(`Cannot write to ${events} (${error.code}): check --events.`);
    });
}
