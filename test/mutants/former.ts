/** What the protocol once did wrong, in the code as it is now: for `npm run prove:mutants`. */
import type { Bug } from './plant.ts';

export const FORMER: readonly Bug[] = [
  {
    name: 'throttling ends the commit of a merge',
    file: 'lib/incidents/commit.ts',
    find: "      case 'throttled':\n",
    replace: "      case 'throttled':\n        if (result.outcome === 'throttled') throw new Error('throttled');\n",
  },
  {
    name: 'throttling ends the moves of a merge',
    file: 'lib/incidents/move.ts',
    find: "      case 'throttled':\n",
    replace: "      case 'throttled':\n        throw new Error('throttled');\n",
  },
  {
    name: 'a small merge that has waited in vain gives up each further large one at once',
    file: 'lib/incidents/relocate.ts',
    find: 'waiting.sequence === announced ? waiting.attempts + 1 : 1',
    replace: 'waiting.attempts + 1',
  },
  {
    name: 'the later of two accounts that store a key takes it',
    file: 'lib/accounts/app-key-admin.ts',
    find: ' : IS_NEW;',
    replace: ' : undefined;',
  },
  {
    name: 'a table restored to a moment within a large merge is found whole',
    file: 'lib/check/merge-order.ts',
    find: 'nowMs - entry.at_ms <= OVERDUE_MS',
    replace: 'nowMs >= 0',
  },
];
