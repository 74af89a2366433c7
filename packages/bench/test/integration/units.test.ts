import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { measureUnits, unitsTable } from '../../suites/units.ts';

it('docs/cost.md has the DynamoDB calls and units of each operation', async () => {
  // A fixed time, since the size of a stored number depends on its digits.
  const now = vi.spyOn(Date, 'now').mockReturnValue(2_050_000_000_000);
  onTestFinished(() => now.mockRestore());
  const results = await measureUnits(dynamodbEndpoint());
  const document = readFileSync(new URL('../../../../docs/cost.md', import.meta.url), 'utf8');
  expect(document).toContain(unitsTable(results));
  expect(document).toContain('*Cold*, with neither cached, each takes one call, one round and one read unit more');
  for (const { cold, warm } of results)
    expect(cold).toMatchObject({
      calls: warm.calls + 1,
      rounds: warm.rounds + 1,
      read: warm.read + 1,
      write: warm.write,
    });

  const warm = Object.fromEntries(results.map(({ what, warm: used }) => [what, used]));
  expect(warm['read the RUM resource']?.calls).toBe(1);
  expect(warm['delete a work item']?.calls).toBe(1);
  // The count of the rate limit, then one round of reads, or two.
  expect(warm['browse, page of 50']?.rounds).toBe(2);
  expect(warm['browse, 2,000 hosts examined']?.rounds).toBe(3);
  expect(warm['merge 90 alerts']?.rounds).toBeLessThanOrEqual(3);
});
