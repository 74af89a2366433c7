/** Finds the position of a syntax error in JSON, and its depth. */
import { codePoints } from './code-points.ts';
import { endOfString } from './json.ts';

const BLANKS = /[ \t\n\r]*/y;
/** Up to its closing quote, or to what no string may hold. */
const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/** The index at which a text stops being the beginning of JSON; undefined for JSON. `JSON.parse` reports it only for some errors. */
export function syntaxErrorAt(text: string): number | undefined {
  const closing: string[] = [];
  let at = 0;
  function take(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  }
  function takeSign(sign: string): boolean {
    if (text[at] !== sign) return false;
    at += 1;
    return take(BLANKS);
  }
  const takeString = () => take(STRING) && takeSign('"');
  const takeName = () => takeString() && takeSign(':');

  take(BLANKS);
  for (;;) {
    if (takeSign('{')) {
      closing.push('}');
      if (text[at] !== '}') {
        if (!takeName()) return at;
        continue;
      }
    } else if (takeSign('[')) {
      closing.push(']');
      if (text[at] !== ']') continue;
    } else if (!takeString() && !(take(SCALAR) && take(BLANKS))) return at;
    // A value has ended, and with it those that end here.
    while (closing.length > 0 && takeSign(closing.at(-1) as string)) closing.pop();
    const inside = closing.at(-1);
    if (inside === undefined) return at < text.length ? at : undefined;
    if (!takeSign(',') || (inside === '}' && !takeName())) return at;
  }
}

/** Line and column of an index, in code points and from 1. */
export function positionOf(text: string, index: number): { line: number; column: number } {
  const lines = text.slice(0, index).split('\n');
  return { line: lines.length, column: codePoints(lines.at(-1) ?? '') + 1 };
}

/** Levels of objects and arrays in a JSON text. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index];
    if (sign === '"') index = endOfString(text, index + 1) - 1;
    else if (sign === '{' || sign === '[') deepest = Math.max(deepest, ++depth);
    else if (sign === '}' || sign === ']') depth -= 1;
  }
  return deepest;
}
