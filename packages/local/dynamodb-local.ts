import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { clientConfig, splitEndpoint } from '../../lib/dynamodb/client.ts';
import type { Kept, KeptOptions } from './dynamodb-process.ts';
import { StartError } from './start-error.ts';

const START_TIMEOUT_MS = 30_000;
const SUPERVISOR = fileURLToPath(new URL('./dynamodb-process.ts', import.meta.url));

/** A port that is free at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await once(server.close(), 'close');
  return port;
}

/** A sentence that follows another one; empty for a database in memory. */
export const damageAdvice = (dbDirectory: string | undefined) =>
  dbDirectory ? ` If the database in ${dbDirectory} is damaged, move the directory away to begin anew.` : '';

/**
 * Starts DynamoDB Local with the installed Java, or uses the server at `endpoint`, and waits until it answers. DynamoDB Local listens on all
 * interfaces and has no option to change that, so its tables belong to a random access key id, which is part of the returned endpoint.
 * @param dbDirectory keeps the database there; absent: in memory
 * @returns `lost`: resolves with a message if the started server ends unexpectedly; `stop`: does nothing to an existing server
 * @throws StartError saying what to do when Java is missing, the directory is in use, or the server does not answer
 */
export async function startDynamoDb(options: { endpoint?: string | undefined; dbDirectory?: string | undefined } = {}) {
  if (options.endpoint) {
    await untilItAnswers(options.endpoint, 3_000, () => undefined, 'check DYNAMODB_ENDPOINT.');
    return { endpoint: options.endpoint, lost: new Promise<string>(() => {}), stop: async () => {} };
  }
  const port = await freePort();
  const { dbDirectory } = options;
  const { kept, ended, lost, stop } = startSupervisor({ port, dbDirectory });
  try {
    const endpoint = `http://${(await kept)?.accessKeyId}@127.0.0.1:${port}`;
    const advice = `check \`java -version\`, and the load of this machine.${damageAdvice(dbDirectory)}`;
    await untilItAnswers(endpoint, START_TIMEOUT_MS, ended, advice);
    return { endpoint, lost, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Starts Java under a supervisor that stops it when this process ends.
 * @returns `kept` resolves when Java has started, or with undefined when it cannot; `ended` gives the reason once Java has ended; `lost`
 * resolves with a message if Java ends before `stop` is called
 */
function startSupervisor(options: KeptOptions) {
  const args = ['--disable-warning=ExperimentalWarning', SUPERVISOR, JSON.stringify(options)];
  const child = spawn(process.execPath, args, {
    // DynamoDB Local starts sooner without telemetry. In the time of a session or test, Java's optimizing compiler costs more than it saves.
    env: { DDB_LOCAL_TELEMETRY: '0', JAVA_TOOL_OPTIONS: '-XX:+UseSerialGC -XX:TieredStopAtLevel=1', ...process.env },
    stdio: 'pipe',
    // In a process group of its own, so that Ctrl-C reaches only this process, which stops the supervisor last.
    detached: true,
  });
  child.stdin.on('error', () => undefined); // the supervisor has ended
  let java: number | undefined;
  let errors = '';
  child.stderr.on('data', (text) => (errors = `${errors}${text}`.slice(0, 4_096)));
  /** The JVM's own message, such as that it cannot reserve its heap. */
  const javaMessage = () => {
    const lines = errors.split('\n').filter((line) => /error|exception|could not/i.test(line));
    return lines.length === 0 ? '' : ` Java says: ${lines.slice(0, 3).join(' ')}`;
  };
  let reason: string | undefined;
  const kept = Promise.withResolvers<Kept | undefined>();
  child.stdout.once('data', (line) => {
    const started = JSON.parse(String(line)) as Kept;
    java = started.java;
    kept.resolve(started);
  });
  const lost = Promise.withResolvers<string>();
  const closed = once(child, 'close').then(([code, signal]) => {
    if (signal !== null && java !== undefined) kill(java); // the supervisor was killed before it could
    // Without Java, standard error has the supervisor's own message.
    reason =
      java === undefined
        ? errors.trim()
        : `DynamoDB Local exited (exit code ${code}): it requires Java 17 or later; check \`java -version\`.${javaMessage()}`;
    kept.resolve(undefined);
    if (!child.stdin.writableEnded)
      lost.resolve(`DynamoDB Local has ended (${signal ?? `exit code ${code}`}): start the service again.`);
  });
  return {
    kept: kept.promise,
    ended: () => reason,
    lost: lost.promise,
    async stop() {
      child.stdin.end();
      await closed;
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

/** @throws StartError when `ended` gives a reason, or the server does not answer in time */
async function untilItAnswers(
  endpoint: string,
  timeoutMs: number,
  ended: () => string | undefined,
  advice: string,
): Promise<void> {
  const client = new DynamoDBClient(clientConfig({ endpoint, maxAttempts: 1 }));
  const until = Date.now() + timeoutMs;
  try {
    for (;;) {
      const reason = ended();
      if (reason) throw new StartError(reason);
      try {
        await client.send(new ListTablesCommand({ Limit: 1 }));
        return;
      } catch (error) {
        if (Date.now() > until)
          throw new StartError(
            `DynamoDB does not respond at ${splitEndpoint(endpoint).url} (${(error as Error).name}): ${advice}`,
          );
        await sleep(100);
      }
    }
  } finally {
    client.destroy();
  }
}
