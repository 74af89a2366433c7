/** Texts that others wrote, for a terminal, a page or a command to paste. */

/**
 * Characters that have no ink, except the ordinary blank, and those that control a terminal or reorder text. The last
 * five are blank, though Unicode calls them symbols, letters and marks.
 */
const UNSEEN = String.raw`(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{16fe4}\u{13441}\u{13442}]`;
/** The joiners inside scripts and emoji that need them, and the selector of a pictograph in colour: the text shows their effect. */
const NEEDED = String.raw`(?<=[^\0-\u024f])[\u200c\u200d](?=[^\0-\u024f])|(?<=\p{Extended_Pictographic})\ufe0f`;

export const INVISIBLE = new RegExp(UNSEEN, 'gu');
/** {@link INVISIBLE} without characters that scripts and emoji need. */
export const UNSAFE = new RegExp(`(?!${NEEDED})${UNSEEN}`, 'gu');

/** The character as an escape of JSON: `\u001b`. */
export const escaped = (character: string) =>
  Array.from(character.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** What no shell reads specially. PowerShell splits a word after one dash at a dot or a colon. */
const BARE = /^(?!-(?!-))(?:--[a-z-]+=)?[\w./:-]+$/;
/**
 * What a shell reads even in double quotes: cmd.exe `%`, also `!` with delayed expansion; bash and zsh `!`; PowerShell
 * typographic quotes; all others than cmd.exe `$`; POSIX shells and PowerShell the backquote; POSIX shells and fish the
 * backslash.
 */
const SPECIAL = /["%!$`\\\u2018-\u201f]/;

/**
 * A word of a command to paste, of which cmd.exe, PowerShell, fish, zsh and POSIX shells make the same argument: bare, in
 * double quotes, or, if neither is possible, a placeholder.
 */
export function shellWord(word: string): string {
  if (BARE.test(word)) return word;
  const isQuotable = word !== '' && !SPECIAL.test(word) && word.search(UNSAFE) === -1;
  return isQuotable ? `"${word}"` : 'TEXT-QUOTED-FOR-YOUR-SHELL';
}
