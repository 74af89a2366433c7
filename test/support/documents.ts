/** The commands that the documents show. */
import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

export interface Document {
  path: string;
  text: string;
}

export const documents: readonly Document[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync(new URL('docs/', root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));

/** The text of a document. @throws Error if there is no such document */
export function textOf(path: string): string {
  const document = documents.find((known) => known.path === path);
  if (!document) throw new Error(`there is no document ${path}`);
  return document.text;
}

/** The lines of a text's command blocks, without comments and here-documents. */
export const blockLines = (text: string): string[] =>
  [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block
      .replace(/<<'(\w+)'\n.*?\n\1\n/gs, '\n')
      .split('\n')
      .map((line) => line.replace(/ +#.*/, '').trim())
      .filter(Boolean),
  );

/** The texts between backticks, outside of blocks. */
export const codeSpans = (text: string): string[] =>
  [...text.replace(/```.*?```/gs, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replace(/\s+/g, ' ').trim());

/** The words of a command line. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, inDouble, inSingle, bare]) => inDouble ?? inSingle ?? bare ?? '',
  );

const PROGRAM = /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|bash|aws|curl|cdk|admin) /;

/** Whether a code span is a command, or a part of one: options, or an operator's command without `admin`. */
export const isCommand = (span: string): boolean =>
  PROGRAM.test(span) || /^--?[a-z]/.test(span) || /^[a-z][a-z-]*(?: [a-z][a-z-]*)+$/.test(span);
