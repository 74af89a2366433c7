/** Texts of others in terminals, and in commands that somebody pastes into a shell. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../../../test/support/chance.ts';
import { argumentsBy, shells } from '../../../../test/support/shells.ts';
import { escaped, INVISIBLE, shellWord, UNSAFE } from '../../src/terminal-text.ts';

const PLACEHOLDER = 'TEXT-QUOTED-FOR-YOUR-SHELL';

describe('a word of a command to paste', () => {
  it.each<[shown: string, words: readonly string[]]>([
    ['bare', ['web-1', 'fra-1/web_1.local:80', '64f000000000000000000001', '--account', '--account=1', '--']],
    [
      'in double quotes',
      ['my host', ' ', '-a.b', '-', '~', '=ls', 'a,b', '@x', 'a^b', '^', '*', '#1', "it's", 'a&b|c>d', '[::1]'],
    ],
    ['in double quotes', ['--cluster=my cluster', '--cluster==ls', 'Größe', '東京', '⚠️ db', 'a; b']],
    // cmd.exe reads the first even in quotes, an interactive bash the second, PowerShell the last two.
    ['replaced', ['%PATH%', 'a!', '$x', '`x`', 'a\\b', '"', '', 'a“b', 'a‘b']],
    ['replaced', ['a\nb', 'a\u00a0b', 'a\u200bb', 'a\u3164b', '\u001b[2J', 'half \ud83d']],
  ])('is %s: %j', (how, words) => {
    for (const word of words) {
      const expected = { bare: word, 'in double quotes': `"${word}"` }[how] ?? PLACEHOLDER;
      expect([word, shellWord(word)]).toEqual([word, expected]);
    }
  });

  /** Texts of what shells read specially, and any others. */
  const of = (characters: string) => fc.string({ unit: fc.constantFrom(...characters) });
  const text = fc.oneof(
    of('=~%@,^+:./-a'),
    of("=~@,^*?[]{}()<>|&;#' -:/._+aZ09é東️"),
    of('%!"$`\\”’ \u200d\u00a0a'),
    anyText,
  );
  it.each(shells)('property: %s makes of it the argument that it stands for, unless it is replaced', (shell) => {
    let quoted = 0;
    const words = fc.array(fc.tuple(fc.constantFrom('', '--cluster='), text), { minLength: 100, maxLength: 100 });
    fc.assert(
      fc.property(words, (pairs) => {
        const meant = pairs.map((pair) => pair.join('')).filter((word) => shellWord(word) !== PLACEHOLDER);
        quoted += meant.filter((word) => shellWord(word) !== word).length;
        expect(argumentsBy(shell, meant.map(shellWord).join(' '))).toEqual(meant);
      }),
      { numRuns: 10 },
    );
    expect(quoted).toBeGreaterThan(100);
  });
});

it.each<[what: string, text: string, shown: string, shownToAssistants?: string]>([
  ['text of any script', 'plain text, é, 中文, עברית, हिन्दी, 😀, 👍🏽', 'plain text, é, 中文, עברית, हिन्दी, 😀, 👍🏽'],
  ['letters and symbols without ink', 'a\u3164\u115f\u1160\uffa0\u2800', 'a\\u3164\\u115f\\u1160\\uffa0\\u2800'],
  ['blanks, except the ordinary one', ' \u00a0\u2003\u3000\t', ' \\u00a0\\u2003\\u3000\\u0009'],
  ['variation selectors and tags', 'a\ufe0f\u{e0100}\u{e0041}', 'a\\ufe0f\\udb40\\udd00\\udb40\\udc41'],
  ['joiners that join nothing', 'a\u200db \u200c', 'a\\u200db \\u200c'],
  ['what scripts and emoji need', 'می\u200cخواهم ⚠\ufe0f', 'می\u200cخواهم ⚠\ufe0f', 'می\\u200cخواهم ⚠\\ufe0f'],
  [
    'control, format and halves of characters',
    '\u001b\u009b\u202e\u2028\ufeff\ud83d',
    '\\u001b\\u009b\\u202e\\u2028\\ufeff\\ud83d',
  ],
])('characters that nobody sees are shown by their code: %s', (_what, text, shown, shownToAssistants = shown) => {
  expect(text.replace(UNSAFE, escaped)).toBe(shown);
  expect(text.replace(INVISIBLE, escaped)).toBe(shownToAssistants);
});
