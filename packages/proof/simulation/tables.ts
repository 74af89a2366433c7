/** The tables that runs lead to, and what requests do to them: each is computed once. */
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { isWrite, type Request } from './requests.ts';
import { type Delivery, outcomeOf } from './run.ts';
import { type Rows, TableDouble } from './table-double.ts';
import { canonical, type Item, memoized } from './values.ts';

/** Rows, and the results of the requests that were made on them. */
export interface TableState {
  readonly id: number;
  readonly rows: Rows;
  /** By the request's text. */
  readonly results: Map<string, Result>;
}

/** What a request does to a table. */
interface Result {
  readonly table: TableState;
  readonly delivery: Delivery;
  readonly written: readonly Item[];
  readonly failures: readonly string[];
}

/** Numbers texts: equal texts get equal numbers. */
export class Numbers {
  readonly #numbers = new Map<string, number>();
  of = (text: string): number => memoized(this.#numbers, text, () => this.#numbers.size);
}

export class Tables {
  readonly #tables = new Map<string, TableState>();
  /** The number of each item: equal items have the same. */
  readonly #items = new WeakMap<Item, number>();
  readonly #texts = new Numbers();
  readonly #outcomes = new Numbers();

  withRows(rows: Rows): TableState {
    const numberOf = (item: Item) => memoized(this.#items, item, () => this.#texts.of(canonical(item)));
    const name = [...rows.values()].map(numberOf).sort().join();
    return memoized(this.#tables, name, () => ({ id: this.#tables.size, rows, results: new Map() }));
  }

  /**
   * @param text the request as canonical text
   * @param applied the token of the transaction, if it was applied before
   */
  resultOf(table: TableState, request: Request, text: string, applied?: string): Result {
    return memoized(table.results, applied === undefined ? text : `again ${text}`, () => {
      const double = new TableDouble(table.rows);
      if (applied !== undefined) double.tokens.set(applied, canonical(request.input.TransactItems));
      const written: Item[] = [];
      double.onWrite = (item) => void written.push(item);
      const failures = isConsistent(request) ? [] : [`${request.name} is not strongly consistent`];
      let delivery: Delivery;
      try {
        delivery = this.deliveryOf({ reply: double.apply(request) });
      } catch (error) {
        if (!(error instanceof DynamoDBServiceException)) failures.push(String(error));
        delivery = this.deliveryOf({ error });
      }
      const after = isWrite(request) ? this.withRows(double.rows) : table;
      return { table: after, delivery, written, failures };
    });
  }

  deliveryOf(outcome: Pick<Delivery, 'reply' | 'error'>): Delivery {
    const text = outcome.error ? outcomeOf(outcome) : canonical(outcome.reply);
    return { id: this.#outcomes.of(text), text, ...outcome };
  }
}

function isConsistent(request: Request): boolean {
  const { ConsistentRead, RequestItems = {} } = request.input;
  const [batch] = Object.values(RequestItems as Record<string, { ConsistentRead?: boolean }>);
  return isWrite(request) || (ConsistentRead ?? batch?.ConsistentRead) === true;
}
