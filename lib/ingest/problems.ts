/** What is wrong with a record, or with an alert of a notification. */
import { type Catalog, type Explanation, explained, type FieldError } from '../http/errors.ts';
import { catalog as en } from '../http/messages/en.ts';

export type Problem = Explanation;

/** How many problems of an item are told, and how many characters of each. */
const TOLD = { problems: 10, characters: 200 } as const;

export const fieldProblem = (fieldError: FieldError): Problem => ({
  name: 'invalidFields',
  values: { fieldErrors: [fieldError] },
});

export const tooLong = (bytes: number, maxBytes: number): Problem => ({
  name: 'itemTooLong',
  values: { bytes, maxBytes },
});

const textIn = (catalog: Catalog, problem: Problem) =>
  explained(catalog, problem)
    .replace(/[.。]$/, '')
    .slice(0, TOLD.characters)
    .toWellFormed();

/** A problem in English, which operators read. */
export const textOf = (problem: Problem): string => textIn(en, problem);

/** Why an item is refused. @param catalog by default English */
export const reasonOf = (problems: readonly Problem[], catalog: Catalog = en): string =>
  problems.map((problem) => textIn(catalog, problem)).join('; ');

/** The first problems that differ. */
export function firstProblems(problems: Problem[]): Problem[] {
  if (problems.length === 0) return problems;
  const byText = new Map<string, Problem>();
  for (const problem of problems) {
    byText.set(textOf(problem), problem);
    if (byText.size === TOLD.problems) break;
  }
  return [...byText.values()];
}
