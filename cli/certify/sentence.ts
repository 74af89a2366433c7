import type { Trial } from './trial.ts';

/** A sentence of the contract, in words of our own, and how it is shown. */
export type Sentence = { readonly text: string } & (
  | { readonly check: (trial: Trial) => Promise<void>; readonly slow?: true }
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
export const shown = (text: string, check: (trial: Trial) => Promise<void>): Sentence => ({ text, check });

/** The same, of a check that takes long: it begins first. */
export const slow = (text: string, check: (trial: Trial) => Promise<void>): Sentence => ({ text, check, slow: true });

/** A sentence that no call can show. */
export const open = (text: string, reason: string): Sentence => ({ text, open: reason });

export const NOT_SHOWN = 'the contract leaves it open; docs/decisions.md says what this service does';
