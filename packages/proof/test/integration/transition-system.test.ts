import { expect, it } from 'vitest';
import { TableDouble } from '../../simulation/table-double.ts';
import { TransitionSystem } from '../../simulation/transition-system.ts';

function rowsOf(...names: string[]) {
  const double = new TableDouble();
  for (const sk of names) double.apply({ name: 'PutCommand', input: { Item: { pk: 'p', sk } } });
  return double.rows;
}

it('gives different rows different keys, even if another search has seen one of them', async () => {
  const known = rowsOf('known');
  const keyOf = async (system: TransitionSystem, rows = known) => system.key(await system.begin(rows));
  await keyOf(new TransitionSystem({ processes: [], invocations: [] }, 0));
  const system = new TransitionSystem({ processes: [], invocations: [] }, 0);
  const keyOfOtherRows = await keyOf(system, rowsOf('other'));
  expect(await keyOf(system)).not.toBe(keyOfOtherRows);
});
