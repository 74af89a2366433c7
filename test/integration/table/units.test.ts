import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { measureUnits } from '../../../packages/bench/functions/units.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';

// Other servers count other units.
it.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'docs/internals/performance.md has the rounds and units of each operation',
  async () => {
    // A fixed time, since the size of a stored number depends on its digits.
    const now = vi.spyOn(Date, 'now').mockReturnValue(2_050_000_000_000);
    onTestFinished(() => now.mockRestore());
    const document = readFileSync('docs/internals/performance.md', 'utf8');
    for (const { what, used, cold, least } of await measureUnits(dynamodbEndpoint())) {
      const { calls, rounds, read, write } = used;
      expect(cold).toEqual({ calls: calls + 1, rounds: rounds + 1, read: read + 1, write });
      const names = ['rounds', 'read', 'write'] as const;
      const figures = names.map((name) => (used[name] === least[name] ? used[name] : `${used[name]} (${least[name]})`));
      expect(document).toContain(`| ${[what, calls, ...figures].join(' | ')} |`);
    }
  },
);
