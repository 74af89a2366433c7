/** DynamoDB's expressions: parsed once, then evaluated on items. */
import { canonical, compare, type Item, isMap, memoized, normalize, sum, typeOf, type Value } from './values.ts';

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
/** One clause of an update. @returns the item after it */
type Clause = (context: Context, after: Item) => Item;
/** The attribute and the members of maps on the way; the service refers to no list elements. */
type Path = (names: Context['names']) => string[];

const TOKEN = /<=|>=|<>|[=<>(),.+-]|[#:]?\w+/g;

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(TOKEN) ?? [];
    if (this.#tokens.join('') !== text.replace(/\s/g, '')) throw new Error(`cannot be parsed: ${text}`);
  }

  #next = () => this.#tokens[this.#at++] ?? '';
  /** Reads this word, if it comes next. */
  #take(word: string): boolean {
    const found = this.#tokens[this.#at]?.toUpperCase() === word;
    if (found) this.#at += 1;
    return found;
  }
  #expect(word: string): void {
    if (!this.#take(word)) throw new Error(`${word} is missing before ${this.#tokens[this.#at] ?? 'the end'}`);
  }
  #separatedBy<Part>(separator: string, part: () => Part): Part[] {
    const parts = [part()];
    while (this.#take(separator)) parts.push(part());
    return parts;
  }
  #inParentheses<Part>(part: () => Part): Part {
    this.#expect('(');
    const inner = part();
    this.#expect(')');
    return inner;
  }
  end(): void {
    if (this.#at < this.#tokens.length) throw new Error(`unexpected ${this.#next()}`);
  }

  condition(): Condition {
    const alternatives = this.#separatedBy('OR', () => this.#conjunction());
    return (context) => alternatives.some((holds) => holds(context));
  }

  #conjunction(): Condition {
    const parts = this.#separatedBy('AND', () => this.#negation());
    return (context) => parts.every((holds) => holds(context));
  }

  #negation(): Condition {
    if (this.#take('NOT')) {
      const inner = this.#negation();
      return (context) => !inner(context);
    }
    if (this.#tokens[this.#at] === '(') return this.#inParentheses(() => this.condition());
    const test = FUNCTIONS[this.#tokens[this.#at] ?? ''];
    return test ? this.#call(test) : this.#comparison();
  }

  #call(test: Test): Condition {
    this.#next();
    const [first, second] = this.#inParentheses(() => this.#separatedBy(',', () => this.#operand()));
    return (context) => test(first?.(context), second?.(context));
  }

  #comparison(): Condition {
    const left = this.#operand();
    if (this.#take('BETWEEN')) {
      const from = this.#operand();
      this.#expect('AND');
      const to = this.#operand();
      return (context) => {
        const value = left(context);
        return COMPARISONS['>='](value, from(context)) && COMPARISONS['<='](value, to(context));
      };
    }
    const operator = this.#next();
    if (!(operator in COMPARISONS)) throw new Error(`${operator} is no comparison`);
    const test = COMPARISONS[operator as keyof typeof COMPARISONS];
    const right = this.#operand();
    return (context) => test(left(context), right(context));
  }

  #operand(): Operand {
    const placeholder = this.#tokens[this.#at] ?? '';
    const path = this.path();
    if (!placeholder.startsWith(':')) return ({ item, names }) => valueAt(item, path(names));
    return ({ values }) => {
      if (!(placeholder in values)) throw new Invalid(`value ${placeholder} is not defined`);
      return normalize(values[placeholder]);
    };
  }

  path(): Path {
    const parts = this.#separatedBy('.', this.#next);
    return (names) =>
      parts.map((part) => {
        const name = part.startsWith('#') ? names[part] : part;
        if (name === undefined) throw new Invalid(`name ${part} is not defined`);
        return name;
      });
  }

  paths = (): Path[] => this.#separatedBy(',', () => this.path());

  update(): Update {
    const clauses: Clause[] = [];
    while (this.#at < this.#tokens.length) {
      const verb = this.#next().toUpperCase();
      clauses.push(...this.#separatedBy(',', () => this.#clause(verb)));
    }
    return (context) => clauses.reduce((after, clause) => clause(context, after), context.item);
  }

  #clause(verb: string): Clause {
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
    const sign = this.#take('+') ? 1 : -1;
    if (sign === -1 && !this.#take('-')) return left;
    const right = this.#term();
    return (context) => {
      const [one, other] = [left(context), right(context)];
      if (one === undefined || other === undefined) return undefined;
      return sum(numberOf(one), numberOf(other), sign);
    };
  }

  #term(): Operand {
    if (!this.#take('IF_NOT_EXISTS')) return this.#operand();
    const [present, initial] = this.#inParentheses(() => this.#separatedBy(',', () => this.#term()));
    return (context) => {
      const value = present?.(context);
      return value === undefined ? initial?.(context) : value;
    };
  }
}

type Test = (one: Value | undefined, other: Value | undefined) => boolean;

const equals: Test = (one, other) => one !== undefined && canonical(one) === canonical(other);

const ordered =
  (holds: (order: number) => boolean): Test =>
  (one, other) => {
    const order = one === undefined || other === undefined ? undefined : compare(one, other);
    return order !== undefined && holds(order);
  };

const COMPARISONS = {
  '=': equals,
  '<>': (one, other) => !equals(one, other),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
} satisfies Record<string, Test>;

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
  if (more instanceof Set) return before === undefined ? more : sameSet(before, more).union(more);
  return before === undefined ? numberOf(more) : sum(numberOf(before), numberOf(more));
}

/** What DELETE does. */
function remove(before: Value | undefined, less: Value): Value | undefined {
  if (before === undefined) return undefined;
  const left = sameSet(before, less).difference(less as Set<Value>);
  return left.size === 0 ? undefined : left;
}

function sameSet(before: Value, other: Value): Set<Value> {
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
