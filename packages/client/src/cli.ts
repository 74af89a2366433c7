#!/usr/bin/env node
/** The command-line program, made of the client. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  ApiError,
  type BrowseFleetRequest,
  type Client,
  type ClientOptions,
  ConnectionError,
  createClient,
  explainStatus,
  ServiceError,
} from './index.ts';
import { jsonText, parseJson } from './json.ts';
import { type Command, checkIdempotencyKey, type MergeOptions } from './options.ts';
import { escaped, shellWord, UNSAFE } from './terminal-text.ts';
import { COMMANDS, type PATHS } from './types.ts';

/** The option that takes a field of a request. */
const optionOf = (field: string) => field.replaceAll('_', '-');
const OPERATIONS = Object.entries(COMMANDS).map(([name, { summary, fields, isIdempotent }]) => {
  const options = [...Object.keys(fields).map(optionOf), ...(isIdempotent ? ['idempotency-key'] : [])];
  return `  ${name.padEnd(28)} ${summary}\n    ${options.map((option) => `--${option}`).join(' ')}\n`;
});

const HELP = `Usage: incident-monitoring-rum-client COMMAND [OPTION...]

Commands:
  fleet                        list the hosts, each with its status and why
    --status S, --agent-version V, --edge-cluster C, --capture-mode M
                               only these; each may be repeated, up to 20 times (capture mode: 3)
    --cursor C                 resume a listing that failed
  merge INCIDENT [ALERT...]    move alerts into an incident: all, or none
    --alerts FILE              also those in a file, one id a line (- is standard input)
    --comment C, --title T     at most 1024 and 512 characters
    --owner MEMBER             the incident's new owner
    --idempotency-key K        repeat a merge within 24 hours without doing it twice

  and each operation by its name, with an option for each field of its request. Lists of texts are repeated options,
  flags take no value, and other lists and objects are JSON:
${OPERATIONS.join('')}
  --json                       print JSON, errors too: fleet prints a line for each host
  --help

Environment:
  APP_KEY                      app key of the account
  BASE_URL                     address of the service (default: http://127.0.0.1:3000)

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
Example: APP_KEY=... incident-monitoring-rum-client fleet --status stale --status degraded
`;

class UsageError extends Error {}

const texts = { type: 'string', multiple: true } as const;
const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
/** The options of the commands that are made for people, besides `COMMON`. */
const OPTIONS = {
  fleet: { status: texts, 'agent-version': texts, 'edge-cluster': texts, 'capture-mode': texts, cursor: text },
  merge: { alerts: text, comment: text, title: text, owner: text, 'idempotency-key': text },
};
const COMMON = { json: flag, help: { ...flag, short: 'h' } } as const;

/** Prints a line of text or JSON. It may contain what others stored, so what is unsafe in it becomes escapes of JSON. */
const write = (stream: NodeJS.WriteStream, line: string) => stream.write(`${line.replace(UNSAFE, escaped)}\n`);
const print = (line: string) => write(process.stdout, line);
const warn = (line: string) => write(process.stderr, line);

function integer(name: string, value: string | undefined): bigint {
  if (value === undefined || !/^-?\d+$/.test(value))
    throw new UsageError(`--${name} must be an integer${value === undefined ? '' : `, not ${value}`}`);
  return BigInt(value);
}

/** Runs `work`, and throws a UsageError for whatever it throws. */
function asUsageError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Error codes after which nothing was sent: unknown host, or connection refused. */
const UNREACHABLE = new Set(['ENOTFOUND', 'ECONNREFUSED']);
const STILL_WAITING_MS = 3_000;
let answered = false;
/** Ends the command's calls. */
const ending = new AbortController();
const callOptions = { signal: ending.signal };

/** Ends the command, without retries, if the service cannot be reached before its first answer: the address is probably wrong. */
const fetchOrEnd: typeof fetch = async (url, init) => {
  const { origin, pathname: path } = new URL(String(url));
  const timer = setTimeout(() => warn(`Still waiting for ${origin}`), STILL_WAITING_MS);
  try {
    const response = await fetch(url, init);
    answered = true;
    return response;
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (!answered && UNREACHABLE.has(code ?? ''))
      ending.abort(new ConnectionError(`No answer from ${origin}${path}: ${message || code}`, { path, origin }));
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

function connect(): Client {
  const appKey = process.env.APP_KEY;
  if (!appKey) throw new UsageError('APP_KEY is missing: set it to the app key of an account');
  const options: ClientOptions = {
    url: process.env.BASE_URL || 'http://127.0.0.1:3000',
    appKey,
    fetch: fetchOrEnd,
    onEvent(event) {
      if (event.type === 'wait' && event.ms >= 1_000)
        warn(`${event.reason}: trying again in ${Math.ceil(event.ms / 1_000)} s`);
    },
  };
  return asUsageError(() => createClient(options));
}

async function fleet(args: string[]): Promise<void> {
  const { values } = asUsageError(() => parseArgs({ args, options: { ...OPTIONS.fleet, ...COMMON } }));
  const request = {
    ...(values.status && { statuses: values.status }),
    ...(values['agent-version'] && { agent_versions: values['agent-version'] }),
    ...(values['edge-cluster'] && { edge_clusters: values['edge-cluster'] }),
    ...(values['capture-mode'] && { capture_modes: values['capture-mode'] }),
    ...(values.cursor !== undefined && { cursor: values.cursor }),
  } as BrowseFleetRequest; // the service checks the values
  for await (const host of connect().hosts(request, callOptions)) {
    const why = explainStatus(host);
    if (values.json) print(jsonText({ ...host, why }));
    else print(`${host.host_id.padEnd(24)}  ${host.servicemap.status.padEnd(12)}  ${why}`);
  }
}

const PARSERS: { readonly [Kind in Command['fields'][string]]: (name: string, given: unknown) => unknown } = {
  flag: (_name, given) => given,
  text: (_name, given) => given,
  texts: (_name, given) => given,
  integer: (name, given) => integer(name, String(given)),
  json(name, given) {
    try {
      return parseJson(String(given));
    } catch {
      throw new UsageError(`--${name} must be JSON`);
    }
  },
};

/** Calls an operation with what its options say, and prints the answer. The service checks the request. */
async function callOperation({ method, fields, isIdempotent }: Command, args: string[]): Promise<void> {
  const types = { flag, text, texts, integer: text, json: text };
  const options = Object.fromEntries(Object.entries(fields).map(([field, kind]) => [optionOf(field), types[kind]]));
  const all = { ...options, ...COMMON, ...(isIdempotent && { 'idempotency-key': text }) };
  const values: Record<string, unknown> = asUsageError(() => parseArgs({ args, options: all })).values;
  const given = Object.entries(fields).filter(([field]) => optionOf(field) in values);
  const request = given.map(([field, kind]) => [field, PARSERS[kind](optionOf(field), values[optionOf(field)])]);
  // The method of each operation takes a request and these options.
  const call = connect()[method as keyof typeof PATHS] as (request: object, options: MergeOptions) => Promise<unknown>;
  const { 'idempotency-key': idempotencyKey = randomUUID() } = values as { 'idempotency-key'?: string };
  const data = await call(Object.fromEntries(request), { ...callOptions, ...(isIdempotent && { idempotencyKey }) });
  const answered = Object.entries(data ?? {});
  if (values.json) print(jsonText(data) ?? 'null');
  else if (answered.length === 0) print('Done.');
  else
    for (const [field, value] of answered)
      print(`${field.padEnd(30)}  ${typeof value === 'object' ? jsonText(value) : value}`);
}

async function merge(args: string[]): Promise<void> {
  const { values, positionals } = asUsageError(() =>
    parseArgs({ args, options: { ...OPTIONS.merge, ...COMMON }, allowPositionals: true }),
  );
  const [incident_id, ...idArguments] = positionals;
  const file = values.alerts === '-' ? 0 : values.alerts;
  const fileText = file === undefined ? '' : asUsageError(() => readFileSync(file, 'utf8'));
  const alert_ids = [...idArguments, ...fileText.split(/\s+/).filter(Boolean)];
  if (incident_id === undefined || alert_ids.length === 0)
    throw new UsageError('merge requires an INCIDENT, and alerts as ALERT... or --alerts FILE');
  const idempotencyKey = values['idempotency-key'] ?? randomUUID();
  asUsageError(() => checkIdempotencyKey(idempotencyKey, '--idempotency-key'));
  const { replayed } = await connect().mergeAlerts(
    {
      alert_ids,
      incident_id,
      ...(values.comment !== undefined && { comment: values.comment }),
      ...(values.title !== undefined && { title: values.title }),
      ...(values.owner !== undefined && { owner_id: integer('owner', values.owner) }),
    },
    { idempotencyKey, ...callOptions },
  );
  const count = new Set(alert_ids.map((id) => id.toLowerCase())).size;
  if (values.json) print(jsonText({ incident_id, alerts: count, replayed, idempotency_key: idempotencyKey }));
  else print(`${count} ${count === 1 ? 'alert' : 'alerts'} ${replayed ? 'had been merged before' : 'merged'}`);
}

/** What to do about a failure, with nothing of the service that a shell could interpret; undefined if the message says what to do. */
function adviceOn(error: ApiError): string | undefined {
  // Without its key, a repeated merge could be done twice.
  if (error.idempotencyKey !== undefined && !(error instanceof ServiceError && error.status < 500))
    return `The merge may have been done. Repeat it with --idempotency-key=${shellWord(error.idempotencyKey)}`;
  if (error.cursor !== undefined) return `Resume with --cursor=${shellWord(error.cursor)}`;
  if (error instanceof ConnectionError) return 'Check BASE_URL and the network.';
  if (error instanceof ServiceError && error.code === 'Unauthorized') return 'Check APP_KEY and BASE_URL.';
  if (error instanceof ServiceError && error.retryAfter !== undefined) return `Try again in ${error.retryAfter} s.`;
  return undefined;
}

/** Prints what failed. @returns the exit code */
function report(error: unknown, json: boolean): number {
  const refusal = error instanceof ServiceError ? error : undefined;
  const advice = error instanceof ApiError ? adviceOn(error) : undefined;
  const wrongUsage = error instanceof UsageError;
  const code = refusal?.code ?? (wrongUsage ? 'Usage' : error instanceof Error ? error.name : 'Error');
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const failure = { code, message, request_id: refusal?.requestId, advice };
    warn(jsonText({ error: failure }));
  } else {
    const request = refusal && ` (request ${refusal.requestId})`;
    warn(`${code}: ${message}${request ?? ''}`);
    if (advice !== undefined) warn(advice);
    if (wrongUsage) warn('See incident-monitoring-rum-client --help');
  }
  return wrongUsage ? 2 : 1;
}

/** What each command does with its arguments. */
const commands = new Map<string, (args: string[]) => Promise<void>>([
  ['fleet', fleet],
  ['merge', merge],
  ...Object.entries(COMMANDS).map(
    ([name, command]) => [name, (args: string[]) => callOperation(command, args)] as const,
  ),
]);

const [command = '--help', ...args] = process.argv.slice(2);
// A reader such as `head` may close the pipe early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
if ([command, ...args].some((arg) => arg === '--help' || arg === '-h')) process.stdout.write(HELP);
else
  try {
    const run = commands.get(command);
    if (run === undefined) throw new UsageError(`unknown command ${command}`);
    await run(args);
  } catch (error) {
    process.exitCode = report(error, args.includes('--json'));
  }
