import { readFileSync } from 'node:fs';

/** The valid lines that docs/data-format.md shows: one of each kind. */
export const documentedLines = (): string[] =>
  readFileSync(new URL('../../docs/data-format.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"kind"'));
