import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { Endpoint } from '../../lib/aws/endpoint.ts';
import { clientConfig } from '../../lib/table/client.ts';
import { CliError } from '../admin/cli/io.ts';
import type { StartedJava, SupervisorOptions } from './dynamodb-process.ts';

const START_TIMEOUT_MS = 30_000;
const SUPERVISOR = fileURLToPath(new URL('./dynamodb-process.ts', import.meta.url));

/** The ports of DynamoDB Local, which SECURITY.md says to block: below those that operating systems give to other programs. */
const [FIRST_PORT, LAST_PORT] = [21_000, 21_999];

/** A port that is free at this moment. */
export const freePort = () => listenOnce(0, '127.0.0.1');

/** Listens, then stops. @returns the port @throws when the port is in use */
async function listenOnce(wanted: number, host?: string): Promise<number> {
  const server = createServer().listen(wanted, host);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await once(server.close(), 'close');
  return port;
}

/** A port for DynamoDB Local that is free on all interfaces at this moment. */
async function freeDynamoDbPort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = await listenOnce(randomInt(FIRST_PORT, LAST_PORT + 1)).catch(() => undefined);
    if (port !== undefined) return port;
  }
  throw new CliError(`No port from ${FIRST_PORT} to ${LAST_PORT} is free for DynamoDB Local.`);
}

/** Advice to append to a message; empty for a database in memory. */
export const damageAdvice = (dbDirectory: string | undefined) =>
  dbDirectory ? ` If the database in ${dbDirectory} is damaged, move the directory away to begin anew.` : '';

/**
 * Starts DynamoDB Local with the installed Java, or uses the server at `endpoint`, and waits until it answers. DynamoDB Local listens on all
 * interfaces and has no option to change that, so a random access key id, which is part of the returned endpoint, protects its tables.
 * @param dbDirectory keeps the database there; absent: in memory
 * @returns `ended`: resolves with a message when the started server has ended; `stop`: does nothing to an existing server
 * @throws CliError saying what to do when Java is missing, the directory is in use, or the server does not answer
 */
export async function startDynamoDb(options: { endpoint?: string | undefined; dbDirectory?: string | undefined } = {}) {
  const { endpoint: existing, dbDirectory } = options;
  if (existing) {
    await untilItAnswers(existing, 3_000, 'check DYNAMODB_ENDPOINT.');
    return { endpoint: existing, ended: new Promise<string>(() => {}), stop: async () => {} };
  }
  const port = await freeDynamoDbPort();
  const { started, failure, ended, stop } = startSupervisor({ port, dbDirectory });
  try {
    const endpoint = `http://${(await started).accessKeyId}@127.0.0.1:${port}`;
    const advice = `check \`java -version\`, and the load of this machine.${damageAdvice(dbDirectory)}`;
    await untilItAnswers(endpoint, START_TIMEOUT_MS, advice, failure);
    return { endpoint, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Starts Java under a supervisor that stops it when this process ends.
 * @returns `started` rejects if Java cannot be started; `ended` resolves when Java has ended; `failure` returns the reason once it has
 * ended, and undefined before
 */
function startSupervisor(options: SupervisorOptions) {
  const supervisor = fork(SUPERVISOR, [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // DynamoDB Local starts sooner without telemetry. Java's optimizing compiler takes more time than it saves in a short run.
    env: { DDB_LOCAL_TELEMETRY: '0', JAVA_TOOL_OPTIONS: '-XX:+UseSerialGC -XX:TieredStopAtLevel=1', ...process.env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // In its own process group, so that Ctrl-C reaches only this process, which stops the supervisor after all else.
    detached: true,
  });
  const stderr = supervisor.stderr as Readable; // a pipe: see `stdio`
  let errors = '';
  stderr.on('data', (text) => (errors = `${errors}${text}`.slice(0, 4_096)));
  const started = Promise.withResolvers<StartedJava>();
  let javaPid: number | undefined;
  supervisor.once('message', (message: StartedJava) => {
    javaPid = message.pid;
    started.resolve(message);
  });
  let failure: CliError | undefined;
  // Does not wait for the supervisor's `close` event, which Node does not emit after a call of `disconnect`.
  const ended = Promise.all([once(supervisor, 'exit'), once(stderr, 'close')]).then(([[code, signal]]) => {
    if (signal !== null && javaPid !== undefined) kill(javaPid); // the supervisor was killed before it could stop Java
    // If Java did not start, standard error has the supervisor's own message.
    failure = new CliError(
      javaPid === undefined
        ? errors.trim()
        : `DynamoDB Local exited (exit code ${code}): it requires Java 17 or later; check \`java -version\`.${javaMessage(errors)}`,
    );
    started.reject(failure);
    return `DynamoDB Local has ended (${signal ?? `exit code ${code}`}): start the service again.`;
  });
  return {
    started: started.promise,
    failure: () => failure,
    ended,
    async stop() {
      if (supervisor.connected) supervisor.disconnect();
      await ended;
    },
  };
}

/** The JVM's own message, such as that it cannot reserve its heap. */
function javaMessage(errors: string): string {
  const lines = errors.split('\n').filter((line) => /error|exception|could not/i.test(line));
  return lines.length === 0 ? '' : ` Java says: ${lines.slice(0, 3).join(' ')}`;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** @throws CliError when `failure` returns one, or when the server does not answer in time */
async function untilItAnswers(
  endpoint: string,
  timeoutMs: number,
  advice: string,
  failure: () => CliError | undefined = () => undefined,
): Promise<void> {
  const client = new DynamoDBClient(clientConfig({ endpoint, maxAttempts: 1 }));
  const until = Date.now() + timeoutMs;
  try {
    for (;;) {
      const failed = failure();
      if (failed) throw failed;
      const answer = await client.send(new ListTablesCommand({ Limit: 1 })).catch((error: Error) => error);
      if (!(answer instanceof Error)) return;
      if (Date.now() > until) {
        throw new CliError(`DynamoDB does not respond at ${new Endpoint(endpoint)} (${answer.name}): ${advice}`);
      }
      await sleep(100);
    }
  } finally {
    client.destroy();
  }
}
