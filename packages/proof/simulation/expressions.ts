/** DynamoDB's expressions: parsed once, then evaluated on items. */
import { compare, type Item, isMap, isSame, memoized, normalize, sum, typeOf, type Value } from './values.ts';

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
/** The attribute and the members of maps on the way; the service refers to no list elements. */
type Path = (names: Context['names']) => string[];

const TOKEN = /\s*(<=|>=|<>|[=<>(),.+-]|[#:]?\w+)/y;

class Parser {
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) this.#tokens.push(match[1] as string);
    if (this.#tokens.join('') !== text.replace(/\s/g, '')) throw new Error(`cannot be parsed: ${text}`);
  }

  #peek = () => this.#tokens[this.#at] ?? '';
  #is = (word: string) => this.#peek().toUpperCase() === word;
  #next = () => this.#tokens[this.#at++] ?? '';
  #take(word: string): boolean {
    const found = this.#is(word);
    if (found) this.#at += 1;
    return found;
  }
  #expect(word: string): void {
    if (!this.#take(word)) throw new Error(`${word} is missing before ${this.#peek() || 'the end'}`);
  }
  #list<One>(one: () => One): One[] {
    const all = [one()];
    while (this.#take(',')) all.push(one());
    return all;
  }
  end(): void {
    if (this.#at < this.#tokens.length) throw new Error(`unexpected ${this.#peek()}`);
  }

  condition(): Condition {
    let left = this.#conjunction();
    while (this.#take('OR')) {
      const [one, other] = [left, this.#conjunction()];
      left = (context) => one(context) || other(context);
    }
    return left;
  }

  #conjunction(): Condition {
    let left = this.#negation();
    while (this.#take('AND')) {
      const [one, other] = [left, this.#negation()];
      left = (context) => one(context) && other(context);
    }
    return left;
  }

  #negation(): Condition {
    if (this.#take('NOT')) {
      const inner = this.#negation();
      return (context) => !inner(context);
    }
    if (this.#take('(')) {
      const inner = this.condition();
      this.#expect(')');
      return inner;
    }
    return this.#comparison();
  }

  #comparison(): Condition {
    const test = FUNCTIONS[this.#peek()];
    if (test) {
      this.#next();
      this.#expect('(');
      const [first = () => undefined, second = () => undefined] = this.#list(() => this.#operand());
      this.#expect(')');
      return (context) => test(first(context), second(context));
    }
    const left = this.#operand();
    if (this.#take('BETWEEN')) {
      const from = this.#operand();
      this.#expect('AND');
      const to = this.#operand();
      return (context) =>
        COMPARISONS['>=']?.(left(context), from(context)) === true &&
        COMPARISONS['<=']?.(left(context), to(context)) === true;
    }
    const comparison = COMPARISONS[this.#next()];
    if (!comparison) throw new Error('a comparison is missing');
    const right = this.#operand();
    return (context) => comparison(left(context), right(context));
  }

  #operand(): Operand {
    const token = this.#peek();
    if (token.startsWith(':')) {
      this.#next();
      return ({ values }) => {
        if (!(token in values)) throw new Invalid(`value ${token} is not defined`);
        return normalize(values[token]);
      };
    }
    const path = this.path();
    return ({ item, names }) => valueAt(item, path(names));
  }

  path(): Path {
    const parts = [this.#next()];
    while (this.#take('.')) parts.push(this.#next());
    return (names) =>
      parts.map((part) => {
        if (!part.startsWith('#')) return part;
        const name = names[part];
        if (name === undefined) throw new Invalid(`name ${part} is not defined`);
        return name;
      });
  }

  paths = (): Path[] => this.#list(() => this.path());

  update(): Update {
    const steps: Step[] = [];
    while (this.#peek() !== '') {
      const verb = this.#next().toUpperCase();
      steps.push(...this.#list(() => this.#step(verb)));
    }
    return (context) => steps.reduce((after, step) => step(context, after), context.item);
  }

  #step(verb: string): Step {
    const path = this.path();
    if (verb === 'REMOVE') return ({ names }, after) => putAt(after, path(names), undefined);
    if (verb === 'SET') {
      this.#expect('=');
      const operand = this.#sum();
      return (context, after) => {
        const value = operand(context);
        if (value === undefined) throw new Invalid('an operand refers to an attribute that is not in the item');
        return putAt(after, path(context.names), value);
      };
    }
    const operand = this.#operand();
    const change = verb === 'ADD' ? add : remove;
    return (context, after) => {
      const at = path(context.names);
      return putAt(after, at, change(valueAt(context.item, at), operand(context) as Value));
    };
  }

  #sum(): Operand {
    const left = this.#term();
    const sign = this.#take('+') ? 1 : this.#take('-') ? -1 : undefined;
    if (sign === undefined) return left;
    const right = this.#term();
    return (context) => {
      const [one, other] = [left(context), right(context)];
      if (one === undefined || other === undefined) return undefined;
      return sum(numberOf(one), numberOf(other), sign);
    };
  }

  #term(): Operand {
    if (!this.#is('IF_NOT_EXISTS')) return this.#operand();
    this.#next();
    this.#expect('(');
    const path = this.path();
    this.#expect(',');
    const otherwise = this.#term();
    this.#expect(')');
    return (context) => valueAt(context.item, path(context.names)) ?? otherwise(context);
  }
}

type Update = (context: Context) => Item;
/** One clause of an update. @returns the item after it */
type Step = (context: Context, after: Item) => Item;

const equals = (one: Value | undefined, other: Value | undefined) =>
  one !== undefined && other !== undefined && isSame(one, other);

const ordered = (holds: (order: number) => boolean) => (one: Value | undefined, other: Value | undefined) => {
  const order = one === undefined || other === undefined ? undefined : compare(one, other);
  return order !== undefined && holds(order);
};

type Test = (one: Value | undefined, other: Value | undefined) => boolean;

const COMPARISONS: Readonly<Record<string, Test>> = {
  '=': equals,
  '<>': (one, other) => !equals(one, other),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
};

const FUNCTIONS: Readonly<Record<string, Test>> = {
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  begins_with: (text, start) => typeof text === 'string' && typeof start === 'string' && text.startsWith(start),
  contains: (whole, part) => {
    if (typeof whole === 'string') return typeof part === 'string' && whole.includes(part);
    return (whole instanceof Set || Array.isArray(whole)) && [...whole].some((each) => equals(each, part));
  },
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
  // A computed name in an object literal makes an own property, also if it is `__proto__`.
  const copy: Record<string, Value> = { ...item, [name]: changed as Value };
  if (changed === undefined) delete copy[name];
  return copy;
}

function numberOf(value: Value): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  throw new Invalid('An operand in the update expression has an incorrect data type');
}

/** What ADD does. */
function add(before: Value | undefined, more: Value): Value {
  if (before === undefined) {
    if (!(more instanceof Set)) numberOf(more);
    return more;
  }
  if (!(more instanceof Set)) return sum(numberOf(before), numberOf(more));
  return setOf([...sameSet(before, more), ...more]);
}

/** What DELETE does. */
function remove(before: Value | undefined, less: Value): Value | undefined {
  if (before === undefined) return undefined;
  const gone = new Set([...(less as ReadonlySet<Value>)].map((each) => String(each)));
  const left = [...sameSet(before, less)].filter((each) => !gone.has(String(each)));
  return left.length === 0 ? undefined : setOf(left);
}

const setOf = (values: readonly Value[]): Value =>
  new Set([...new Map(values.map((each) => [String(each), each])).values()]);

function sameSet(before: Value, other: Value): ReadonlySet<Value> {
  if (before instanceof Set && typeOf(before) === typeOf(other)) return before;
  throw new Invalid('An operand in the update expression has an incorrect data type');
}

/** Parses each text once. */
function cached<Parsed>(parse: (parser: Parser) => Parsed): (text: string) => Parsed {
  const known = new Map<string, Parsed>();
  return (text) =>
    memoized(known, text, () => {
      const parser = new Parser(text);
      const parsed = parse(parser);
      parser.end();
      return parsed;
    });
}

export const parseCondition = cached((parser) => parser.condition());
export const parseUpdate = cached((parser) => parser.update());
const parsePaths = cached((parser) => parser.paths());

/** The item with only the attributes that a projection names; the service projects no members of maps. */
export function projected(item: Item, expression: string | undefined, names: Context['names']): Item {
  if (expression === undefined) return item;
  const wanted = parsePaths(expression).map((path) => path(names)[0] ?? '');
  return Object.fromEntries(wanted.flatMap((name) => (Object.hasOwn(item, name) ? [[name, item[name] as Value]] : [])));
}
