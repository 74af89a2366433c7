/** The tables that runs lead to, and the results of requests on them. Equal tables are one, and each result is computed once. */
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

/** Short ids for texts: equal texts have the same id. */
export class TextIds {
  readonly #ids = new Map<string, number>();
  of = (text: string): number => memoized(this.#ids, text, () => this.#ids.size);
}

export class Tables {
  readonly #tables = new Map<string, TableState>();
  /** Ids of items: equal items have the same id. */
  readonly #itemIds = new WeakMap<Item, number>();
  readonly #itemTexts = new TextIds();
  readonly #outcomeTexts = new TextIds();

  withRows(rows: Rows): TableState {
    const idOf = (item: Item) => memoized(this.#itemIds, item, () => this.#itemTexts.of(canonical(item)));
    const name = [...rows.values()].map(idOf).sort().join();
    return memoized(this.#tables, name, () => ({ id: this.#tables.size, rows, results: new Map() }));
  }

  /**
   * @param text the request as canonical text
   * @param wasApplied the transaction was applied before
   */
  resultOf(table: TableState, request: Request, text: string, wasApplied = false): Result {
    return memoized(table.results, wasApplied ? `again ${text}` : text, () => {
      const double = new TableDouble(table.rows);
      const { ClientRequestToken, TransactItems } = request.input;
      if (wasApplied) double.tokens.set(ClientRequestToken, canonical(TransactItems));
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
    return { id: this.#outcomeTexts.of(text), text, ...outcome };
  }
}

function isConsistent(request: Request): boolean {
  const { ConsistentRead, RequestItems = {} } = request.input;
  const [batch] = Object.values(RequestItems as Record<string, { ConsistentRead?: boolean }>);
  return isWrite(request) || (ConsistentRead ?? batch?.ConsistentRead) === true;
}
