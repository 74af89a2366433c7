/** The documents, and the commands that they show. */
import { globSync, readFileSync } from 'node:fs';

/** All Markdown. */
export const DOCUMENTS: readonly string[] = globSync(['*.md', '{docs,examples,lib}/**/*.md', 'packages/*/*.md']);

export const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The words of a command line. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, inDouble, inSingle, bare]) => inDouble ?? inSingle ?? bare ?? '',
  );

/** The valid lines that docs/data-format.md shows: one of each kind. */
export const documentedLines = (): string[] =>
  textOf('docs/data-format.md')
    .split('\n')
    .filter((line) => line.startsWith('{"kind"'));

/** The commands of a named step of a workflow of GitHub Actions. */
export function stepOf(workflow: string, name: string): string {
  const [, block] =
    new RegExp(`- name: ${name}\\n(?: {8}(?!run).*\\n)* {8}run: \\|\\n((?: {10}.*\\n)+)`).exec(workflow) ?? [];
  if (block === undefined) throw new Error(`The workflow has no step ${name}.`);
  return block;
}
