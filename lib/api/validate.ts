import type { ErrorObject } from 'ajv';
import type { ApiMiddleware, ApiRequest } from './call.ts';
import { refuse } from './errors.ts';
import { type FieldSchema, type Problem, ruleOf } from './problems.ts';

/** A validator as ajv compiles it: fills in defaults, and leaves what it found in `errors`. */
export interface Validator {
  (body: unknown): boolean;
  errors?: Partial<ErrorObject>[] | null;
}

/**
 * What a schema cannot say: bounds of one field that depend on another.
 * @param offending fields that did not pass by themselves, whose values are not what `Body` says
 */
export type CrossCheck<Body> = (body: Body, offending: ReadonlySet<string>) => Problem[];

/**
 * Checks the body against the operation's schema. `InvalidParameter` names every offending field and what it must be.
 */
export function validateMiddleware<Body>(
  schema: { readonly properties: object },
  validate: Validator,
  crossCheck: CrossCheck<Body> = () => [],
): ApiMiddleware {
  const fields = schema.properties as Readonly<Record<string, FieldSchema>>;

  function validateMiddlewareBefore({ event }: ApiRequest): void {
    const body = event.body as Record<string, unknown>;
    validate(body);
    const problems = problemsOf(validate.errors ?? [], fields);
    problems.push(...illFormedStrings(body, fields, fieldsOf(problems)));
    problems.push(...crossCheck(body as Body, fieldsOf(problems)));
    if (problems.length > 0) throw refuse('InvalidParameter', 'invalidFields', { problems });
  }

  return { before: validateMiddlewareBefore };
}

const fieldsOf = (problems: readonly Problem[]) => new Set(problems.map(({ field }) => field));

/** One problem for each offending field, in the order in which they were met; of an array's items, the first. */
function problemsOf(errors: Partial<ErrorObject>[], fields: Readonly<Record<string, FieldSchema>>): Problem[] {
  const problems = new Map<string, Problem & { items: Set<string> }>();
  for (const { instancePath = '', params } of errors) {
    const [, name = '', item] = instancePath.split('/');
    const missing = name === '';
    const field = missing ? String(params?.missingProperty) : name;
    const schema = fields[field] ?? {};
    const problem = problems.get(field) ?? {
      field,
      must: ruleOf((item === undefined ? undefined : schema.items) ?? schema),
      ...(missing && { missing }),
      ...(item !== undefined && { item: Number(item) }),
      items: new Set(),
    };
    if (item !== undefined) problem.items.add(item);
    problems.set(field, problem);
  }
  return [...problems.values()].map(({ items, ...problem }) =>
    problem.item !== undefined && items.size > 1 ? { ...problem, moreItems: items.size - 1 } : problem,
  );
}

/** Strings with half of a surrogate pair: JSON can write them, UTF-8 and DynamoDB cannot hold them. */
function illFormedStrings(
  body: Record<string, unknown>,
  fields: Readonly<Record<string, FieldSchema>>,
  known: ReadonlySet<string>,
): Problem[] {
  const problems: Problem[] = [];
  for (const [field, schema] of Object.entries(fields)) {
    const value = body[field];
    if (known.has(field)) continue;
    if (typeof value === 'string' && !value.isWellFormed()) problems.push({ field, must: ruleOf(schema) });
    const item = Array.isArray(value) ? value.findIndex((one) => typeof one === 'string' && !one.isWellFormed()) : -1;
    if (item >= 0) problems.push({ field, must: ruleOf(schema.items ?? {}), item });
  }
  return problems;
}
