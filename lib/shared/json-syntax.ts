/** Measures JSON texts: where the first syntax error is, and how deep they are nested. */
import { codePoints } from './code-points.ts';
import { endOfString } from './json.ts';

const WHITESPACE = /[ \t\n\r]*/y;
/** A string without its closing quote. The match ends before that quote, or before the first character that is invalid in a string. */
const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/**
 * The index of the first syntax error; undefined for valid JSON. It is the index of the wrong character, or of the start of the word, number
 * or escape that contains it. `JSON.parse` reports an index only for some errors.
 */
export function syntaxErrorAt(text: string): number | undefined {
  /** The closing brackets that the open objects and arrays need. */
  const closing: string[] = [];
  let at = 0;
  function take(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  }
  function takeMark(mark: string): boolean {
    if (text[at] !== mark) return false;
    at += 1;
    return take(WHITESPACE);
  }
  const takeString = () => take(STRING) && takeMark('"');
  const takeName = () => takeString() && takeMark(':');

  take(WHITESPACE);
  for (;;) {
    if (takeMark('{')) {
      closing.push('}');
      if (text[at] !== '}') {
        if (!takeName()) return at;
        continue;
      }
    } else if (takeMark('[')) {
      closing.push(']');
      if (text[at] !== ']') continue;
    } else if (!takeString() && !(take(SCALAR) && take(WHITESPACE))) return at;
    // A value has ended: takes the brackets that close the objects and arrays around it.
    while (closing.length > 0 && takeMark(closing.at(-1) as string)) closing.pop();
    const nextClosing = closing.at(-1);
    if (nextClosing === undefined) return at < text.length ? at : undefined;
    if (!takeMark(',') || (nextClosing === '}' && !takeName())) return at;
  }
}

/** Line and column of an index, in code points and from 1. */
export function positionOf(text: string, index: number): { line: number; column: number } {
  const lines = text.slice(0, index).split('\n');
  return { line: lines.length, column: codePoints(lines.at(-1) ?? '') + 1 };
}

/** How deep objects and arrays are nested in a JSON text. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index + 1) - 1;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}
