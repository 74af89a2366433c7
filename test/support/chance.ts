import fc from 'fast-check';

/** Numbers from 0 to 1 (exclusive), the same for the same seed: the generator mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The seed of all that tests choose by chance. It is the same in every run, so that a test fails because of a change and not by
 * chance; `SEED=random` chooses another, which a failing run prints.
 */
export const SEED = process.env.SEED === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(process.env.SEED ?? 1);

/** Any text, also with control characters and unpaired surrogates. fast-check's own unit `binary` takes a second to set up. */
export const anyText = fc.string({
  unit: fc
    .oneof({ weight: 3, arbitrary: fc.nat({ max: 0x7f }) }, fc.nat({ max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});
