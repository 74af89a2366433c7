import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { clientConfig, splitEndpoint } from '../../lib/dynamodb/client.ts';
import { lockDirectory } from './directory-lock.ts';
import { type KeptOptions, NO_JAVA } from './dynamodb-process.ts';
import { StartError } from './start-error.ts';

const START_TIMEOUT_MS = 30_000;
const KEEPER = new URL('./dynamodb-process.ts', import.meta.url);

/** Below the ports that systems give to connections and to servers that take any: nobody takes one of these before Java does. */
const PORTS = { first: 20_000, count: 12_000 } as const;
const STRIDE = 7;
let looked = 0;

/** A free port of the loopback interface; another process that looks for one at the same time begins elsewhere. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS.count; tries += 1) {
    const port = PORTS.first + ((STRIDE * process.pid + looked) % PORTS.count);
    looked += 1;
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await once(server.close(), 'close');
    return port;
  }
  throw new StartError(`No port from ${PORTS.first} to ${PORTS.first + PORTS.count - 1} is free for DynamoDB Local.`);
}

/**
 * Starts DynamoDB Local with the machine's Java, or uses the server at `endpoint`, and waits until it answers.
 * DynamoDB Local listens on all interfaces and cannot be told otherwise; its tables are those of an access key id that is
 * random, and part of the endpoint.
 * @param dbDirectory keeps the database there; absent: in memory
 * @returns `lost`: a message if what was started here ends unexpectedly; `stop`: does nothing to an existing server
 * @throws StartError saying what to do when there is no Java, the directory is in use, or the server does not answer
 */
export async function startDynamoDb(options: { endpoint?: string | undefined; dbDirectory?: string | undefined } = {}) {
  if (options.endpoint) {
    await untilItAnswers(options.endpoint, 3_000, () => undefined);
    return { endpoint: options.endpoint, lost: new Promise<string>(() => {}), stop: async () => {} };
  }
  const lock = options.dbDirectory === undefined ? undefined : await lockDirectory(options.dbDirectory);
  const accessKeyId = options.dbDirectory === undefined ? newAccessKeyId() : accessKeyIdOf(options.dbDirectory);
  const port = await freePort();
  const { child, ended, lost } = startKeeper({
    port,
    dbDirectory: options.dbDirectory && resolve(options.dbDirectory),
  });
  if (child.pid !== undefined) lock?.keptBy(child.pid);
  child.stdout.once('data', (pid: Buffer) => lock?.keptBy(Number(pid.toString())));
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    }
    lock?.release();
  };
  const endpoint = `http://${accessKeyId}@127.0.0.1:${port}`;
  try {
    await untilItAnswers(endpoint, START_TIMEOUT_MS, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, lost, stop };
}

/** 128 bits. */
const newAccessKeyId = () => randomBytes(16).toString('hex');

/** As DynamoDB Local names the files of an access key id and a region; that of `sharedDb`, which former versions used. */
const OWN_FILE = /^([0-9a-f]{32})_local\.db/;
const SHARED_FILE = 'shared-local-instance.db';

/** The id whose tables a directory has, else a new one; tables of a former version become those of the new one. */
function accessKeyIdOf(directory: string): string {
  const files = readdirSync(directory);
  const known = files.map((name) => OWN_FILE.exec(name)?.[1]).find((id) => id !== undefined);
  const id = known ?? newAccessKeyId();
  if (existsSync(join(directory, `${id}_local.db`))) return id;
  // The database itself last, after its journals: a rename that was cut short goes on.
  for (const name of files
    .filter((file) => file.startsWith(SHARED_FILE))
    .sort()
    .reverse())
    renameSync(join(directory, name), join(directory, name.replace(SHARED_FILE, `${id}_local.db`)));
  return id;
}

/** Starts Java under a keeper that ends it when this process ends. @returns why it ended, once it has */
function startKeeper(options: KeptOptions) {
  // It starts sooner without telemetry; and for a Java that lives for a session or a test, optimizing takes more time than
  // it saves.
  const env = {
    DDB_LOCAL_TELEMETRY: '0',
    JAVA_TOOL_OPTIONS: '-XX:+UseSerialGC -XX:TieredStopAtLevel=1',
    ...process.env,
  };
  // Its own process group: Ctrl-C reaches only this process, which stops it last.
  const child = spawn(process.execPath, [fileURLToPath(KEEPER), JSON.stringify(options)], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  let java: number | undefined;
  child.stdout.once('data', (pid: Buffer) => {
    java = Number(pid.toString());
  });
  child.stdin.on('error', () => undefined); // it ended by itself
  let reason: string | undefined;
  child.on('error', (error) => {
    reason = `Cannot start DynamoDB Local: ${error.message}`;
  });
  const lost = Promise.withResolvers<string>();
  child.on('exit', (code, signal) => {
    if (signal !== null && java !== undefined) kill(java); // the keeper could not do it
    if (!child.stdin.writableEnded)
      lost.resolve(`DynamoDB Local has ended (${signal ?? `exit code ${code}`}): start the service again.`);
    reason ??=
      code === NO_JAVA
        ? 'Java was not found: install Java 17 or later and put `java` on the PATH, or set DYNAMODB_ENDPOINT.'
        : `DynamoDB Local exited (exit code ${code}): it requires Java 17 or later; check \`java -version\`.`;
  });
  return { child, ended: () => reason, lost: lost.promise };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
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
            `DynamoDB does not respond at ${splitEndpoint(endpoint).url} (${(error as Error).name}): check DYNAMODB_ENDPOINT.`,
          );
        await sleep(100);
      }
    }
  } finally {
    client.destroy();
  }
}
