/** All scenarios. */
import { ACCOUNTS } from './accounts.ts';
import { DELETES } from './deletes.ts';
import type { Scenario } from './explore.ts';
import { LIMITS } from './limits.ts';
import { MERGES } from './merges.ts';
import { MERGES_AND_WRITES } from './merges-and-writes.ts';

export const SCENARIOS: readonly Scenario[] = [...MERGES, ...MERGES_AND_WRITES, ...DELETES, ...ACCOUNTS, ...LIMITS];
