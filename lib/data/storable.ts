/** An open kind's fields: their values may be any JSON. */
export const storableFields = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, storable(value)]));

/**
 * A value of JSON as the document client stores it whole. The client recognizes objects by their `constructor`, which a member of
 * that name hides; maps do not have this problem.
 */
function storable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, storable(member)]));
}
