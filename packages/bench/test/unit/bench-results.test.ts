import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GENERATED } from '../../document.ts';
import { type Figure, RESULTS } from '../../report.ts';

const { figures } = JSON.parse(readFileSync(RESULTS, 'utf8')) as { figures: Figure[] };

it.each(GENERATED.map(({ file, from }) => ({ name: file.pathname.split('/').at(-1), file, from })))(
  'docs/$name shows the figures of packages/bench/results.json',
  ({ file, from }) => {
    const document = readFileSync(file, 'utf8');
    expect(from(document, figures)).toBe(document);
    expect(from(document, [])).not.toBe(document);
  },
);

it('docs/benchmarks.md has a place for each suite but units, whose figures docs/cost.md has', () => {
  const document = readFileSync(new URL('../../../../docs/benchmarks.md', import.meta.url), 'utf8');
  const shown = [...document.matchAll(/<!-- figures of (.+?)(?: by subject)? -->/g)].flatMap(([, suites = '']) =>
    suites.split(', '),
  );
  expect([...shown, 'units'].sort()).toEqual([...new Set(figures.map(({ suite }) => suite))].sort());
});
