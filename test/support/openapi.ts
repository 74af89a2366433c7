/** An OpenAPI document with every reference replaced by what it names. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the document holds
export function inlined(document: unknown): any {
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as { $ref?: string };
    const members = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, follow(member)]));
    if ($ref === undefined) return members;
    const named = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], document);
    return { ...(follow(named) as object), ...members };
  };
  return follow(document);
}
