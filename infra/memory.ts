import type { FunctionName } from './grants.ts';

/** A function has a share of a processor by its memory; a whole one at 1,769 MB. docs/performance.md says why 512 MB. */
const [SMALL, USUAL, WHOLE] = [256, 512, 1_769] as const;

const SIZES: Readonly<Partial<Record<FunctionName, number>>> = {
  'fallback-route': SMALL,
  'openapi-document': SMALL,
  'finish-merges': WHOLE,
  'ingest-records': WHOLE,
};

/** MB of a function. */
export const memoryMbOf = (name: FunctionName): number => SIZES[name] ?? USUAL;
