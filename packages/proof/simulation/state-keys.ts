/** Texts that are equal for states which need not be told apart. */
import { outcomeOf } from './run.ts';
import type { State } from './state.ts';
import { Numbers } from './tables.ts';
import { memoized } from './values.ts';

export class StateKeys {
  readonly #texts = new Numbers();
  readonly #operations = new WeakMap<State['operations'], number>();

  of(state: State): string {
    const { table, processes, late, queued, tokens, hidden } = state;
    const part = (text: string) => this.#texts.of(text);
    // Of an ended process only the answers matter, which are in its operations.
    const positions = processes
      .map(({ name, position, alive }) =>
        alive || position.calls.length > 0 ? position.id : -1 - part(`${name} is over`),
      )
      .sort((one, other) => one - other);
    const rest = [
      ...late.map(({ name, text }) => part(`${name} ${text}`)).sort(),
      ...queued.map(({ name, after }) => part(`${name} after ${after}`)).sort(),
      ...tokens.map(({ token }) => part(token)).sort(),
      ...hidden.map(({ process, row, before }) => part(`${row} of ${process} as ${before?.text}`)),
    ];
    return `${table.id} ${positions} ${this.#judgedBy(state)} ${rest}`;
  }

  ofFinished = (state: State): string => `${state.table.id} ${this.#judgedBy(state)}`;

  #judgedBy({ operations, faults, isSettled, isThrottled, events, failures }: State): string {
    return `${this.#numberOf(operations)} ${faults.length} ${isSettled} ${isThrottled} ${events} ${failures.length}`;
  }

  #numberOf(operations: State['operations']): number {
    return memoized(this.#operations, operations, () => {
      const texts = operations.map(
        (each) => `${each.id} after ${each.after} ${each.calls > 0} ${each.ended ? outcomeOf(each) : ''}`,
      );
      return this.#texts.of(texts.sort().join(';'));
    });
  }
}
