/**
 * Whether the answers to callers, and what is left in the table, could have come about one call after the other, each between its
 * beginning and its end: Wing and Gong's search.
 */
import type { Operation } from './surroundings.ts';

/** A sequential model of what is tested: plain, and as the contract has it. */
export interface Model<State> {
  readonly initial: State;
  /** What an operation does by itself. @returns all that could be right: mostly one */
  readonly apply: (state: State, operation: string) => readonly { state: State; answer: string }[];
  /** An answer, or an error, as the model has it; undefined: it leaves open whether the operation was done. */
  readonly answerOf: (operation: Operation) => string | undefined;
  /** Whether a state of the model is what is in the table. */
  readonly isFinal: (state: State) => boolean;
}

export function isLinearizable<State>(operations: readonly Operation[], model: Model<State>): boolean {
  // An operation none of whose calls was taken has done nothing.
  const all = operations.filter(({ after, ended }) => after !== undefined || ended);
  const search = (state: State, left: readonly Operation[]): boolean => {
    // What is left open may as well never happen.
    if (left.every((operation) => expected(operation) === undefined) && model.isFinal(state)) return true;
    return left.some((operation) => {
      const isFirst = !left.some(
        (other) => other !== operation && expected(other) !== undefined && operation.after?.includes(other.id),
      );
      if (!isFirst) return false;
      const rest = left.filter((other) => other !== operation);
      const answer = expected(operation);
      return model
        .apply(state, operation.name)
        .some((outcome) => (answer === undefined || outcome.answer === answer) && search(outcome.state, rest));
    });
  };
  const expected = (operation: Operation) => (operation.ended ? model.answerOf(operation) : undefined);
  return search(model.initial, all);
}
