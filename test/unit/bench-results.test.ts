import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GENERATED } from '../../bench/document.ts';
import { type Figure, RESULTS } from '../../bench/report.ts';

const { figures } = JSON.parse(readFileSync(RESULTS, 'utf8')) as { figures: Figure[] };

it.each(GENERATED.map(({ file, from }) => ({ name: file.pathname.split('/').at(-1), file, from })))(
  'docs/$name shows the figures of bench/results.json',
  ({ file, from }) => {
    const document = readFileSync(file, 'utf8');
    expect(from(document, figures)).toBe(document);
    expect(from(document, [])).not.toBe(document);
  },
);
