/** Every rule of docs/aws-behaviour.md links to an existing test, and has a source or says that it has none. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const document = readFileSync(new URL('docs/aws-behaviour.md', root), 'utf8');
const rules = [...document.matchAll(/^\[(.+?)\]\(\.\.\/(\S+?)\) \| (.+)$/gm)].map(
  ([, rule = '', file = '', source = '']) => ({ rule, file, source }),
);

it('has rules, and no other rows', () => {
  expect(rules.length).toBeGreaterThan(40);
  expect(document.match(/^(?!rule \| source$|--- ).* \| /gm)).toHaveLength(rules.length);
});

describe.each(rules)('$rule', ({ file, source }) => {
  it('has a source or is marked as not confirmed', () => {
    expect(source).toMatch(/\*\*not confirmed\*\*|\]\(https:\/\/[^)]+\)/);
  });

  it('has an existing test', () => {
    expect([file, /\.test\.ts$/.test(file) && existsSync(new URL(file, root))]).toEqual([file, true]);
  });
});
