import { statfsSync } from 'node:fs';

/** Enough for the sample database, which takes 3 MB, and its journal, which takes as much. DynamoDB Local stops answering when it cannot write. */
const MIN_FREE_MB = 16;

/** The message that a disk is full; undefined if it is not. */
export function fullDisk(directory: string): string | undefined {
  const { bavail, bsize } = statfsSync(directory);
  const freeMb = Math.floor((bavail * bsize) / 1024 / 1024);
  return freeMb < MIN_FREE_MB
    ? `The disk of ${directory} is full (${freeMb} MB are free, at least ${MIN_FREE_MB} are needed): make room, or choose another directory with --db.`
    : undefined;
}
