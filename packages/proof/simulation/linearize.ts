/**
 * Whether the answers and the final table could result from the calls one after the other, each between its beginning and its end: Wing and
 * Gong's search.
 */
import type { Operation } from './surroundings.ts';

/** A plain sequential model of what is tested, as the contract describes it. */
export interface Model<State> {
  readonly initial: State;
  /**
   * What an operation does alone.
   * @returns all outcomes that would be right: mostly one
   */
  readonly apply: (state: State, operation: string) => readonly { state: State; answer: string }[];
  /** An answer or error in the model's terms; undefined: it does not say whether the operation was done. */
  readonly answerOf: (operation: Operation) => string | undefined;
  /** Whether a state of the model equals the table. */
  readonly isFinal: (state: State) => boolean;
}

export function isLinearizable<State>(operations: readonly Operation[], model: Model<State>): boolean {
  // An operation none of whose calls was executed has done nothing.
  const all = operations.filter(({ after, ended }) => after !== undefined || ended);
  const search = (state: State, left: readonly Operation[]): boolean => {
    // An operation with an unknown outcome may also never take effect.
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
