/**
 * Template strings for DynamoDB expressions. A value becomes a placeholder:
 *
 *     expression`SET title = ${title}, #version = #version + ${1}`
 *
 * `#word` is the attribute `word`, for names that are reserved words. An undefined value is omitted; an expression as a value becomes
 * part of this one.
 */
export class Expression {
  /** The texts around the values: one more than there are values. */
  readonly texts: readonly string[];
  readonly values: readonly unknown[];

  constructor(texts: readonly string[], values: readonly unknown[] = []) {
    this.texts = texts;
    this.values = values;
  }
}

/** Tag of a template string. */
export const expression = (texts: TemplateStringsArray, ...values: readonly unknown[]) => new Expression(texts, values);

/** No reserved word has an underscore: DynamoDB Developer Guide, "Reserved words in DynamoDB". */
const nameText = (name: string) => (name.includes('_') ? name : `#${name}`);

/** An attribute, by a name of letters, digits and underscores. */
export const attribute = (name: string) => new Expression([nameText(name)]);

export const EXISTS = expression`attribute_exists(pk)`;
export const IS_NEW = expression`attribute_not_exists(pk)`;

/** Condition: the attribute has this value; undefined: the row lacks the attribute. Also an assignment, in `SET`. */
export const is = (name: string, value: unknown) =>
  value === undefined
    ? new Expression([`attribute_not_exists(${nameText(name)})`])
    : new Expression([`${nameText(name)} = `, ''], [value]);

function joined(prefix: string, expressions: readonly Expression[], separator: string): Expression {
  const texts = Array<string>(expressions.length + 1).fill(separator);
  texts[0] = prefix;
  texts[expressions.length] = '';
  return new Expression(texts, expressions);
}

/** Condition: the attribute is absent or below the bound. */
export const isBelow = (name: string, bound: number | Uint8Array) =>
  expression`(attribute_not_exists(${attribute(name)}) OR ${attribute(name)} < ${bound})`;

/** Condition: all of these hold. */
export const all = (...conditions: readonly Expression[]) => joined('', conditions, ' AND ');

/** Condition: the row exists, and these attributes have the values that were read. */
export const isAsRead = <Row extends object>(row: Row, names: readonly (keyof Row & string)[]) =>
  all(EXISTS, ...names.map((name) => is(name, row[name])));

/**
 * Update: sets attributes, and removes those whose value is undefined.
 * @param initial set only if the row lacks them; undefined values are omitted
 */
export function set(attributes: object, initial: object = {}): Expression {
  const sets: Expression[] = [];
  const removed: Expression[] = [];
  for (const [name, value] of Object.entries(attributes))
    if (value === undefined) removed.push(attribute(name));
    else sets.push(is(name, value));
  for (const [name, value] of Object.entries(initial))
    if (value !== undefined) sets.push(expression`${attribute(name)} = if_not_exists(${attribute(name)}, ${value})`);
  const clauses = [joined('SET ', sets, ', '), joined('REMOVE ', removed, ', ')].filter(
    ({ values }) => values.length > 0,
  );
  return joined('', clauses, ' ');
}

export const projection = (names: readonly string[]) => joined('', names.map(attribute), ', ');

type Members<Expressions> = {
  [Member in keyof Expressions]: string | (undefined extends Expressions[Member] ? undefined : never);
} & { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Record<string, unknown> };

/** Converts expressions to the members of a DynamoDB request: texts, names and values. */
export function expressionsOf<Expressions extends Readonly<Record<string, Expression | undefined>>>(
  expressions: Expressions,
) {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  /** The placeholders of bytes: the order of a record occurs several times. */
  const placeholders = new Map<unknown, string>();
  let count = 0;
  function textOf({ texts, values: innerValues }: Expression): string {
    let text = texts[0] as string;
    for (let index = 0; index < innerValues.length; index += 1) {
      const value = innerValues[index];
      if (value instanceof Expression) text += textOf(value);
      else if (value !== undefined) {
        const placeholder = placeholders.get(value) ?? `:${count++}`;
        if (value instanceof Uint8Array) placeholders.set(value, placeholder);
        values[placeholder] = value;
        text += placeholder;
      }
      text += texts[index + 1];
    }
    return text;
  }
  const members: Record<string, unknown> = {};
  let hasNames = false;
  for (const member in expressions) {
    const value = expressions[member];
    if (!value) continue;
    const text = textOf(value);
    members[member] = text;
    for (const alias of text.match(/#\w+/g) ?? []) {
      names[alias] = alias.slice(1);
      hasNames = true;
    }
  }
  // DynamoDB refuses empty maps.
  if (hasNames) members.ExpressionAttributeNames = names;
  if (count > 0) members.ExpressionAttributeValues = values;
  return members as Members<Expressions>;
}
