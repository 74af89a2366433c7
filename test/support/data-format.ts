import { readFileSync } from 'node:fs';

/** One good line of each kind, from the document that users read. */
export const documentedLines = (): string[] =>
  readFileSync(new URL('../../docs/data-format.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"kind"'));
