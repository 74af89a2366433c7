/** Checks linearizability, by the search of Wing and Gong. */
import type { Operation } from './environment.ts';

/** What an operation may lead to in the model. */
export interface Outcome<State> {
  readonly state: State;
  readonly answer: string;
}

/** A sequential model of the code under test, as the contract describes it. */
export interface Model<State> {
  readonly initial: State;
  /** @returns each right outcome of the operation when it runs alone */
  readonly apply: (state: State, operation: string) => readonly Outcome<State>[];
  /** The answer or error of an operation in the model's terms; undefined: it may have been done or not. */
  readonly answerOf: (operation: Operation) => string | undefined;
  /** Whether the table holds this state. */
  readonly isFinal: (state: State) => boolean;
}

/**
 * Whether the operations could have led to their answers and to the final table one after the other, each at a moment between its
 * beginning and its end.
 */
export function isLinearizable<State>(operations: readonly Operation[], model: Model<State>): boolean {
  // An operation that has not ended and none of whose calls was executed has done nothing.
  const all = operations.filter(({ after, ended }) => after !== undefined || ended);
  const answerOf = (operation: Operation) => (operation.ended ? model.answerOf(operation) : undefined);
  const search = (state: State, remaining: readonly Operation[]): boolean => {
    // Operations with an unknown outcome may have done nothing.
    if (remaining.every((operation) => answerOf(operation) === undefined) && model.isFinal(state)) return true;
    return remaining.some((operation) => {
      const others = remaining.filter((other) => other !== operation);
      if (others.some((other) => answerOf(other) !== undefined && operation.after?.includes(other.id))) return false;
      const answer = answerOf(operation);
      return model
        .apply(state, operation.name)
        .some((outcome) => (answer === undefined || outcome.answer === answer) && search(outcome.state, others));
    });
  };
  return search(model.initial, all);
}
