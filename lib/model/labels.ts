/**
 * The labels or annotations that take at most so many bytes as members of a JSON object, in the order of their names, and the bytes that
 * remain. One that does not fit is left out, and later ones may fit.
 * @param jsonOf writes the JSON
 */
export function textsWithin(
  texts: Readonly<Record<string, string>> = {},
  bytes: number,
  jsonOf: (pair: readonly string[]) => string = JSON.stringify,
): { texts: Record<string, string>; isCut: boolean; room: number } {
  const fitting: Record<string, string> = {};
  let room = bytes;
  const sorted = Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, text] of sorted) {
    // As `["name","text"]`: a byte more than the member with its comma.
    const size = Buffer.byteLength(jsonOf([name, text]));
    if (size > room) continue;
    fitting[name] = text;
    room -= size;
  }
  return { texts: fitting, isCut: Object.keys(fitting).length < sorted.length, room };
}
