/** The documents are short enough to be read when something is wrong. */
import { expect, it } from 'vitest';
import { DOCUMENTS, textOf } from '../support/documents.ts';

/** Most words, as `wc -w` counts them: a cell of a table is as an item of a list. */
const MOST = { page: 1_200, paragraph: 80, item: 40, all: 14_000 };
const wordsIn = (text: string) => text.match(/\S+/g)?.length ?? 0;

type Part = readonly [kind: keyof typeof MOST, text: string];

/** The paragraphs, items and cells of a document without its code and headings. */
const partsOf = (text: string): Part[] =>
  text
    .replace(/^ *```.*?^ *```$|^#+ [^\n]*$/gms, '\n')
    .split(/\n(?=\s*(?:\n|\||[-*] |\d+\. ))/)
    .flatMap((part): Part[] => {
      const [start = ''] = /^\s*(?:\||[-*] |\d+\. )?/.exec(part) ?? [];
      if (start.trim() === '') return [['paragraph', part]];
      const items = start.endsWith('|') ? part.split('|') : [part.slice(start.length)];
      return items.map((item) => ['item', item]);
    });

it('no page is too long, and no paragraph, item of a list or cell of a table', () => {
  const tooLong = DOCUMENTS.flatMap((path) => {
    const text = textOf(path);
    const parts: Part[] = [['page', text], ...partsOf(text)];
    return parts.flatMap(([kind, part]) => {
      const words = wordsIn(part);
      const start = part.trim().slice(0, 40).replace(/\s+/g, ' ');
      return words > MOST[kind] ? [`${path}: ${words} words in the ${kind} "${start}"`] : [];
    });
  });
  expect(tooLong).toEqual([]);
});

it('all documents together are not too long', () => {
  expect(wordsIn(DOCUMENTS.map(textOf).join('\n'))).toBeLessThanOrEqual(MOST.all);
});
