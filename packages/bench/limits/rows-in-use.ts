import type { Row } from './engine.ts';

/** The rows being written: a transaction on one of them fails, and so does a write to a row of a transaction. */
export function createRowsInUse() {
  const writes = new Map<string, number>();
  const transactions = new Set<string>();
  return {
    writes,
    transactions,
    /**
     * Marks rows of single writes; those in use by a transaction are in conflict. Source: Developer Guide, "Transaction conflict handling
     * in DynamoDB"
     */
    write(rows: readonly Pick<Row, 'name'>[]): { conflicts: boolean[]; end(): void } {
      const names = rows.map(({ name }) => name);
      const conflicts = names.map((name) => transactions.has(name));
      const marked = names.filter((_name, index) => !conflicts[index]);
      for (const name of marked) writes.set(name, (writes.get(name) ?? 0) + 1);
      const end = () => {
        for (const name of marked) {
          const left = (writes.get(name) ?? 1) - 1;
          if (left === 0) writes.delete(name);
          else writes.set(name, left);
        }
      };
      return { conflicts, end };
    },
  };
}

export type RowsInUse = ReturnType<typeof createRowsInUse>;
