import type { FunctionName } from './grants.ts';

/** In MB. Lambda gives processor time in proportion: one vCPU for 1,769 MB. docs/performance.md says why operations have 512 MB. */
const [SMALL, USUAL, ONE_VCPU] = [256, 512, 1_769] as const;

const SIZES: Readonly<Partial<Record<FunctionName, number>>> = {
  'fallback-route': SMALL,
  'openapi-document': SMALL,
  'finish-merges': ONE_VCPU,
  'ingest-records': ONE_VCPU,
};

export const memoryMbOf = (name: FunctionName): number => SIZES[name] ?? USUAL;
