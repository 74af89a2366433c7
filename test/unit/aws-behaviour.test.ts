/** Every rule of docs/aws-behaviour.md has a source or says that it has none, and names the file of a test that there is. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const document = readFileSync(new URL('docs/aws-behaviour.md', root), 'utf8');
const rules = [...document.matchAll(/^- (.+)$/gm)].map(([, rule = '']) => rule);

it('has rules', () => {
  expect(rules.length).toBeGreaterThan(40);
});

describe.each(rules)('%s', (rule) => {
  // Its source in parentheses, then what is done here, with a link to the test.
  const [, source = '', file = ''] = /^.+ \((.+)\): .*\]\(\.\.\/((?:test|packages)\/\S+) "(.+)"\)/.exec(rule) ?? [];

  it('has a source, or says that it is not confirmed', () => {
    expect(source).toMatch(/\*\*not confirmed\*\*|\]\(https:\/\/[^)]+\)/);
  });

  it('has an existing test', () => {
    const path = new URL(file, root);
    expect([rule, file !== '' && existsSync(path)]).toEqual([rule, true]);
  });
});
