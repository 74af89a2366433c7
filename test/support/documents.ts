/** The documents, and the commands that they show. */
import { readFileSync } from 'node:fs';

export const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The words of a command line. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, inDouble, inSingle, bare]) => inDouble ?? inSingle ?? bare ?? '',
  );
