/** Texts that are equal for states which need not be told apart. */
import { outcomeOf } from './run.ts';
import type { State } from './state.ts';
import { Numbers } from './tables.ts';
import { canonical } from './values.ts';

export class StateKeys {
  readonly #texts = new Numbers();

  /** States with equal keys have the same future and are judged alike. */
  of(state: State): string {
    const { table, processes, operations, late, queued, tokens, hidden } = state;
    const { faults, isSettled, isThrottled, events, failures } = state;
    const numberOf = (text: string) => this.#texts.of(text);
    // Of an ended process only the answers matter, which are in its operations.
    const positions = processes.map(({ name, position, alive }) =>
      alive || position.calls.length > 0 ? position.id : -1 - numberOf(`${name} is over`),
    );
    const answers = operations.map(
      (each) => `${each.id} after ${each.after} ${each.calls > 0} ${each.ended ? outcomeOf(each) : ''}`,
    );
    const pending = [
      ...late.map(({ name, text }) => numberOf(`${name} ${text}`)).sort(),
      ...queued.map(({ name, after }) => numberOf(`${name} after ${after}`)).sort(),
      ...tokens.map(({ token }) => numberOf(token)).sort(),
      ...hidden.map(({ process, row, before }) => numberOf(`${row} of ${process} as ${canonical(before)}`)),
    ];
    const judgedBy = `${faults.length} ${isSettled} ${isThrottled} ${events} ${failures.length}`;
    return `${table.id} ${positions.sort()} ${numberOf(answers.sort().join(';'))} ${judgedBy} ${pending}`;
  }
}
