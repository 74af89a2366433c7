/** Keeps two services from using one database directory: DynamoDB Local would let them, and each would miss the other's writes. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../admin/local-service/running.ts';
import { StartError } from './start-error.ts';

const WAIT_MS = 5_000;

/** Who uses a directory. */
interface Holder {
  /** The process that holds it. */
  pid: number;
  /** The process that writes there: it ends a moment after the holder. */
  keeper?: number;
  /** ISO 8601. */
  since: string;
}

/**
 * @param waitMs for a process that still writes there though its holder has ended
 * @throws StartError while the process that holds the lock runs, or the one that writes there
 */
export async function lockDirectory(directory: string, waitMs = WAIT_MS) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'in-use.json');
  const holder: Holder = { pid: process.pid, since: new Date().toISOString() };
  const write = (flag: 'wx' | 'w') => writeFileSync(file, `${JSON.stringify(holder)}\n`, { flag });
  for (const until = Date.now() + waitMs; ; ) {
    try {
      write('wx');
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = readHolder(file);
    if (other && isAlive(other.pid)) throw inUse(directory, other.pid, other.since, file);
    // Its holder is gone; what it started goes a moment later, unless it was left behind.
    if (other?.keeper === undefined || !isAlive(other.keeper)) removeStale(file, other);
    else if (Date.now() < until) await sleep(50);
    else throw inUse(directory, other.keeper, other.since, file);
  }
  return {
    /** Names the process that writes there and ends after the holder. */
    keptBy(pid: number): void {
      holder.keeper = pid;
      write('w');
    },
    release: () => rmSync(file, { force: true }),
  };
}

const inUse = (directory: string, pid: number, since: string, file: string) =>
  new StartError(
    `${directory} is in use by process ${pid} since ${since}: stop that service, or choose another directory. ` +
      `If process ${pid} is something else, delete ${file}.`,
  );

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined; // gone meanwhile, or cut short
  }
}

/** Of several that find a stale lock, one moves it away; a lock that was made meanwhile goes back. */
function removeStale(file: string, stale: Holder | undefined): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // another was first
  }
  if (JSON.stringify(readHolder(aside)) === JSON.stringify(stale)) rmSync(aside, { force: true });
  else renameSync(aside, file);
}
