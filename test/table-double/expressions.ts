/**
 * DynamoDB's expressions: parsed once, then evaluated on items. Only what the service uses: keywords in capitals, functions in small letters,
 * and a space around each operator.
 */
import { canonical, compare, type Item, isMap, normalize, sum, typeOf, type Value } from './values.ts';

/** The item and the placeholders that an expression is evaluated with. */
export interface Context {
  /** Empty if there is no such row. */
  readonly item: Item;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** An error in the request, which DynamoDB refuses with ValidationException. */
export class Invalid extends Error {}

type Operand = (context: Context) => Value | undefined;
type Condition = (context: Context) => boolean;
type Update = (context: Context) => Item;
/** One clause of an update. @param current the item as earlier clauses have changed it @returns the item after this clause */
type Clause = (context: Context, current: Item) => Item;
/** The names that lead to an attribute, or to a member of a map in it; the service refers to no list elements. */
type Path = (names: Context['names']) => string[];

/** The parts of a text between separators outside parentheses. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let unclosed = '';
  for (const piece of text.split(separator)) {
    const part = unclosed + piece;
    if (part.split('(').length === part.split(')').length) {
      parts.push(part.trim());
      unclosed = '';
    } else unclosed = part + separator;
  }
  if (unclosed) throw new Error(`parentheses do not match: ${text}`);
  return parts;
}

function conditionOf(text: string): Condition {
  for (const [separator, combine] of [
    [' OR ', 'some'],
    [' AND ', 'every'],
  ] as const) {
    const parts = split(text, separator);
    if (parts.length === 1) continue;
    const conditions = parts.map(conditionOf);
    return (context) => conditions[combine]((holds) => holds(context));
  }
  if (text.startsWith('NOT ')) {
    const inner = conditionOf(text.slice('NOT '.length));
    return (context) => !inner(context);
  }
  if (text.startsWith('(')) return conditionOf(text.slice(1, -1));
  const [, name, inner] = /^(\w+)\((.+)\)$/.exec(text) ?? [];
  const [first = '', operator = '', second = ''] = text.split(' ');
  const test = TESTS[name ?? operator];
  if (!test) throw new Error(`the table double does not know this condition: ${text}`);
  const [left, right] = (inner?.split(', ') ?? [first, second]).map(operandOf);
  return (context) => test(left?.(context), right?.(context));
}

function operandOf(text: string): Operand {
  if (!text.startsWith(':')) {
    const path = pathOf(text);
    return ({ item, names }) => valueAt(item, path(names));
  }
  return ({ values }) => {
    if (!(text in values)) throw new Invalid(`value ${text} is not defined`);
    return normalize(values[text]);
  };
}

function pathOf(text: string): Path {
  if (!/^[#\w.]+$/.test(text)) throw new Error(`not the path of an attribute: ${text}`);
  return (names) =>
    text.split('.').map((part) => {
      const name = part.startsWith('#') ? names[part] : part;
      if (name === undefined) throw new Invalid(`name ${part} is not defined`);
      return name;
    });
}

function updateOf(text: string): Update {
  // The pattern has a group for the verb, so the verbs are among the parts.
  const [, ...parts] = text.split(/(?:^| )(SET|REMOVE|ADD|DELETE) /);
  const clauses = parts.flatMap((verb, index) =>
    index % 2 === 0 ? split(parts[index + 1] as string, ',').map((clause) => clauseOf(verb, clause)) : [],
  );
  return (context) => clauses.reduce((current, clause) => clause(context, current), context.item);
}

function clauseOf(verb: string, text: string): Clause {
  const [target = '', source = ''] = text.split(verb === 'SET' ? ' = ' : ' ');
  const path = pathOf(target);
  if (verb === 'REMOVE') return ({ names }, current) => putAt(current, path(names), undefined);
  if (verb === 'SET') {
    const operand = sumOf(source);
    return (context, current) => {
      const value = operand(context);
      if (value === undefined) throw new Invalid('an operand refers to an attribute that is not in the item');
      return putAt(current, path(context.names), value);
    };
  }
  const operand = operandOf(source);
  const change = verb === 'ADD' ? add : remove;
  return (context, current) => {
    const at = path(context.names);
    return putAt(current, at, change(valueAt(context.item, at), operand(context) as Value));
  };
}

function sumOf(text: string): Operand {
  const [left = termOf(text), right] = split(text, ' + ').map(termOf);
  if (!right) return left;
  return (context) => {
    const [a, b] = [left(context), right(context)];
    if (a === undefined || b === undefined) return undefined;
    return sum(numberOf(a), numberOf(b));
  };
}

function termOf(text: string): Operand {
  const [, inner] = /^if_not_exists\((.+)\)$/.exec(text) ?? [];
  if (!inner) return operandOf(text);
  const [present, initial] = split(inner, ',').map(termOf);
  return (context) => {
    const value = present?.(context);
    return value === undefined ? initial?.(context) : value;
  };
}

type Test = (left: Value | undefined, right: Value | undefined) => boolean;

const equals: Test = (left, right) => left !== undefined && canonical(left) === canonical(right);

const ordered =
  (holds: (order: number) => boolean): Test =>
  (left, right) => {
    const order = left === undefined || right === undefined ? undefined : compare(left, right);
    return order !== undefined && holds(order);
  };

/** Comparisons and functions, by their names in an expression. */
const TESTS: Readonly<Record<string, Test>> = {
  '=': equals,
  '<>': (left, right) => !equals(left, right),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  begins_with: (text, start) => typeof text === 'string' && typeof start === 'string' && text.startsWith(start),
  // The service uses `contains` on sets only.
  contains: (whole, part) => whole instanceof Set && [...whole].some((member) => equals(member, part)),
};

function valueAt(item: Value | undefined, path: readonly string[]): Value | undefined {
  let value = item;
  for (const part of path) value = isMap(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}

/**
 * A copy of the item with a value at the path.
 * @param value undefined: removes it
 */
function putAt(item: Value | undefined, path: readonly string[], value: Value | undefined): Item {
  if (!isMap(item)) throw new Invalid('The document path provided in the update expression is invalid for update');
  const [name = '', ...inner] = path;
  const changed = inner.length === 0 ? value : putAt(valueAt(item, [name]), inner, value);
  // A computed name in an object literal makes an own property, even if it is `__proto__`.
  const copy: Record<string, Value> = { ...item, [name]: changed as Value };
  if (changed === undefined) delete copy[name];
  return copy;
}

function numberOf(value: Value): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  throw new Invalid('An operand in the update expression has an incorrect data type');
}

/** What ADD does. */
function add(before: Value | undefined, added: Value): Value {
  if (added instanceof Set) return before === undefined ? added : setLike(before, added).union(added);
  return before === undefined ? numberOf(added) : sum(numberOf(before), numberOf(added));
}

/** What DELETE does. */
function remove(before: Value | undefined, removed: Value): Value | undefined {
  if (before === undefined) return undefined;
  const remaining = setLike(before, removed).difference(removed as Set<Value>);
  return remaining.size === 0 ? undefined : remaining;
}

/** @returns `before` as a set of the type of `operand`. @throws Invalid if it is none */
function setLike(before: Value, operand: Value): Set<Value> {
  if (before instanceof Set && typeOf(before) === typeOf(operand)) return before;
  throw new Invalid('An operand in the update expression has an incorrect data type');
}

/** Parses each text once. */
function parsedOnce<Parsed>(parse: (text: string) => Parsed): (text: string) => Parsed {
  const known = new Map<string, Parsed>();
  return (text) => {
    const parsed = known.get(text) ?? parse(text.trim().replace(/\s+/g, ' '));
    known.set(text, parsed);
    return parsed;
  };
}

export const parseCondition = parsedOnce(conditionOf);
export const parseUpdate = parsedOnce(updateOf);
const parsePaths = parsedOnce((text) => split(text, ',').map(pathOf));

/** The item with only the attributes that a projection names; the service projects no members of maps. */
export function projected(item: Item, expression: string | undefined, names: Context['names']): Item {
  if (expression === undefined) return item;
  const wanted = parsePaths(expression).map((path) => path(names)[0] ?? '');
  return Object.fromEntries(wanted.flatMap((name) => (Object.hasOwn(item, name) ? [[name, item[name] as Value]] : [])));
}
