/** Writes the list of languages from the files in the folder: `npm run generate`. A test fails if the list is out of date. */
import { readdirSync, writeFileSync } from 'node:fs';

const FOLDER = new URL('../../lib/http/messages/', import.meta.url);
export const LANGUAGES_FILE = new URL('languages.ts', FOLDER);

const DEFAULT = 'en';
const FILE_NAME = /^([a-z]{2,3}(?:-[a-z0-9]{2,8})*)\.ts$/;

/** The source of `languages.ts`: the default language first. */
export function languagesSource(): string {
  const others = readdirSync(FOLDER)
    .flatMap((file) => FILE_NAME.exec(file)?.[1] ?? [])
    .filter((tag) => tag !== DEFAULT)
    .sort();
  const tags = [DEFAULT, ...others];
  const nameOf = (tag: string) => tag.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
  return [
    '// Generated from the files of this folder by `npm run generate`: do not edit.',
    "import type { Catalog } from '../errors.ts';",
    ...[...tags].sort().map((tag) => `import { catalog as ${nameOf(tag)} } from './${tag}.ts';`),
    '',
    '/** The default first. */',
    `export const CATALOGS: readonly [Catalog, ...Catalog[]] = [${tags.map(nameOf).join(', ')}];`,
    '',
  ].join('\n');
}

if (import.meta.main) writeFileSync(LANGUAGES_FILE, languagesSource());
