/** Checks linearizability, by the search of Wing and Gong. */
import type { Invocation } from './environment.ts';

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
  /** The answer or error of an invocation in the model's terms; undefined: it may have been done or not. */
  readonly answerOf: (invocation: Invocation) => string | undefined;
  /** Whether the table holds this state. */
  readonly isFinal: (state: State) => boolean;
}

/**
 * Whether the invocations could have led to their answers and to the final table one after the other, each at a moment between its
 * beginning and its end.
 */
export function isLinearizable<State>(invocations: readonly Invocation[], model: Model<State>): boolean {
  // An invocation that has not ended, and none of whose calls was executed, has done nothing.
  const all = invocations.filter(({ after, ended }) => after !== undefined || ended);
  const answerOf = (invocation: Invocation) => (invocation.ended ? model.answerOf(invocation) : undefined);
  const search = (state: State, remaining: readonly Invocation[]): boolean => {
    // Invocations with an unknown outcome may have done nothing.
    if (remaining.every((invocation) => answerOf(invocation) === undefined) && model.isFinal(state)) return true;
    return remaining.some((next) => {
      const rest = remaining.filter((invocation) => invocation !== next);
      if (rest.some((earlier) => answerOf(earlier) !== undefined && next.after?.includes(earlier.id))) return false;
      const answer = answerOf(next);
      return model
        .apply(state, next.name)
        .some((outcome) => (answer === undefined || outcome.answer === answer) && search(outcome.state, rest));
    });
  };
  return search(model.initial, all);
}
