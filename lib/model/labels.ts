/**
 * Labels that take at most so many bytes as members of a JSON object, in the order of their names. One that does not fit is left out, and
 * later ones may fit.
 * @param textOf writes the JSON
 */
export function labelsWithin(
  labels: Readonly<Record<string, string>>,
  bytes: number,
  textOf: (pair: readonly string[]) => string = JSON.stringify,
): { labels: Record<string, string>; isCut: boolean } {
  const fitting: Record<string, string> = {};
  let room = bytes;
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, text] of sorted) {
    // As `["name","text"]`: a byte more than the member with its comma.
    const size = Buffer.byteLength(textOf([name, text]));
    if (size > room) continue;
    fitting[name] = text;
    room -= size;
  }
  return { labels: fitting, isCut: Object.keys(fitting).length < sorted.length };
}
