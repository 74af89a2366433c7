/** Every row of docs/aws-behaviour.md has a source or says that it has none, and names a test that there is. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const document = readFileSync(new URL('docs/aws-behaviour.md', root), 'utf8');
const MARK = '**not confirmed**';

const rows = document
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| rule of AWS'))
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

it('has rows of three columns', () => {
  expect(rows.length).toBeGreaterThan(40);
  for (const row of rows) expect(row).toHaveLength(3);
});

describe.each(rows)('%s', (_rule, source = '', here = '') => {
  it('has a source, or the mark', () => {
    expect(source.includes(MARK) || /\]\(https:\/\/[^)]+\)/.test(source)).toBe(true);
  });

  it('has an existing test', () => {
    const [, file = '', title = ''] = /\]\(\.\.\/(test\/[\w/.-]+) "(.+)"\)/.exec(here) ?? [];
    const path = new URL(file, root);
    expect([here, file !== '' && existsSync(path)]).toEqual([here, true]);
    const titles = [...readFileSync(path, 'utf8').matchAll(/(?:\b(?:it|describe)|\))\(\s*(['"`])(.+?)\1,/g)];
    expect(titles.filter(([, , text]) => text?.includes(title))).not.toEqual([]);
  });
});
