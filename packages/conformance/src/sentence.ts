import type { Entities } from './data.ts';
import type { Trial } from './trial.ts';

/** A sentence of the contract, in words of our own, and how it is shown. */
export type Sentence = { readonly text: string } & (
  | { readonly check: (trial: Trial) => Promise<unknown>; readonly slow?: true }
  | { readonly open: string }
);

/** A section of the contract, by its number and heading there. */
export interface Section {
  readonly number: string;
  readonly heading: string;
  readonly sentences: readonly Sentence[];
}

export const section = (number: string, heading: string, sentences: readonly Sentence[]): Section => ({
  number,
  heading,
  sentences,
});

/** A sentence that calls show. */
export const shown = (text: string, check: (trial: Trial) => Promise<unknown>): Sentence => ({ text, check });

/** Like `shown`, for a sentence that requires the data set. */
export const shownOnData = (text: string, check: (trial: Trial, entities: Entities) => Promise<unknown>): Sentence =>
  shown(text, async (trial) => check(trial, trial.need('entities')));

/** Like `shown`, for a slow check, which begins first. */
export const slow = (text: string, check: (trial: Trial) => Promise<unknown>): Sentence => ({
  text,
  check,
  slow: true,
});

/** A sentence shown by the same check as another, in another section. */
export function shownAs(text: string, { sentences }: Section, begins: string): Sentence {
  const sentence = sentences.find((one) => one.text.startsWith(begins));
  if (!sentence) throw new Error(`no sentence begins with ${begins}`);
  return { ...sentence, text };
}

/** A sentence that no call can show. */
export const open = (text: string, reason: string): Sentence => ({ text, open: reason });

export const NOT_SHOWN = 'the contract leaves it open; docs/decisions.md says what this service does';
