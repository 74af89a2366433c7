/** What would break callers of an API whose OpenAPI document changes so. */

interface Schema {
  type?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
}
interface Document {
  paths: Record<string, { post: Post }>;
}
interface Post {
  requestBody: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content: Record<string, { schema: Schema }> }>;
}

const JSON_TYPE = 'application/json';

/** @returns a line for each change that breaks callers; none for what only adds */
export function breakingChanges(before: object, after: object): string[] {
  const problems: string[] = [];
  for (const [path, { post: was }] of Object.entries((before as Document).paths)) {
    const is = (after as Document).paths[path]?.post;
    if (!is) {
      problems.push(`${path} is gone`);
      continue;
    }
    narrowed(
      `${path} request`,
      was.requestBody.content[JSON_TYPE]?.schema ?? {},
      is.requestBody.content[JSON_TYPE]?.schema ?? {},
    );
    for (const [status, answer] of Object.entries(was.responses)) {
      const now = is.responses[status];
      if (!now) problems.push(`${path} no longer answers ${status}`);
      else widened(`${path} ${status}`, answer.content[JSON_TYPE]?.schema ?? {}, now.content[JSON_TYPE]?.schema ?? {});
    }
  }
  return problems;

  /** A request that was right must be right. */
  function narrowed(at: string, was: Schema, is: Schema): void {
    if (was.type !== is.type) problems.push(`${at} must be ${is.type}, was ${was.type}`);
    for (const name of is.required ?? [])
      if (!was.required?.includes(name)) problems.push(`${at}.${name} is required now`);
    for (const value of was.enum ?? [])
      if (is.enum && !is.enum.includes(value)) problems.push(`${at} no longer takes ${value}`);
    for (const bound of ['minimum', 'minLength', 'minItems'] as const)
      if ((is[bound] ?? Number.NEGATIVE_INFINITY) > (was[bound] ?? Number.NEGATIVE_INFINITY))
        problems.push(`${at}: ${bound} has risen`);
    for (const bound of ['maximum', 'maxLength', 'maxItems'] as const)
      if ((is[bound] ?? Number.POSITIVE_INFINITY) < (was[bound] ?? Number.POSITIVE_INFINITY))
        problems.push(`${at}: ${bound} has fallen`);
    if (is.pattern !== was.pattern) problems.push(`${at}: its pattern is another`);
    for (const [name, schema] of Object.entries(was.properties ?? {})) {
      const now = is.properties?.[name];
      if (now) narrowed(`${at}.${name}`, schema, now);
      else problems.push(`${at}.${name} is gone`);
    }
    if (was.items && is.items) narrowed(`${at}[]`, was.items, is.items);
  }

  /** What a caller relies on in an answer must be there. */
  function widened(at: string, was: Schema, is: Schema): void {
    if (was.type !== is.type) problems.push(`${at} is ${is.type}, was ${was.type}`);
    for (const [name, schema] of Object.entries(was.properties ?? {})) {
      const now = is.properties?.[name];
      if (!now) problems.push(`${at}.${name} is gone`);
      else {
        if (was.required?.includes(name) && !is.required?.includes(name))
          problems.push(`${at}.${name} may be missing now`);
        widened(`${at}.${name}`, schema, now);
      }
    }
    if (was.items && is.items) widened(`${at}[]`, was.items, is.items);
  }
}
