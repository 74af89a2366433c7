/**
 * A value of JSON as the document client stores it whole. The client recognizes objects by their `constructor`, which a member of
 * that name hides; maps do not have this problem.
 */
export function storable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, storable(member)]));
}
