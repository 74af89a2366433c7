import { statfsSync } from 'node:fs';

/** Enough for the sample database, which takes 3 MB, and its journal, which takes as much. DynamoDB Local stops answering when it cannot write. */
const MIN_FREE_BYTES = 16 * 1024 * 1024;

/** The message that a disk is full; undefined if it is not. */
export function fullDisk(directory: string): string | undefined {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  return free < MIN_FREE_BYTES
    ? `The disk of ${directory} is full (${Math.floor(free / 1024 / 1024)} MB are free, at least 16 are needed): make room, or choose another directory with --db.`
    : undefined;
}
