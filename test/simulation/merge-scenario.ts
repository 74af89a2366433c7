/** A scenario of merges: what the table holds before, who calls, and what finishes large ones. */
import type { Scenario } from './explore.ts';
import { afterMerge, finishingOf, fresh, type MergeActor, SIZES, TWO, torn, UNTOUCHED } from './merge-actors.ts';
import { judgement, type Merge, merged } from './merge-model.ts';
import { scenarioOf } from './scenario.ts';

interface Setting {
  readonly name: string;
  readonly cost: Scenario['cost'];
  readonly actors: readonly MergeActor[];
  /** These alerts are merged before. */
  readonly after?: string[];
  /** A merge that a restore has torn. */
  readonly torn?: Merge;
  /** Of what finishes large merges, and of a merge that is torn. */
  readonly transactionItems?: number;
  /** The message of a large merge comes at once, so often. */
  readonly early?: 1 | 2;
}

export function mergeScenario(setting: Setting): Scenario {
  const { name, cost, actors, after, torn: part, transactionItems = SIZES.transactionItems, early } = setting;
  const initial = after ? merged(UNTOUCHED, { alerts: after, into: TWO }).state : UNTOUCHED;
  const operations = new Map(actors.flatMap((one) => [...one.operations]));
  if (part) operations.set('merge', (state) => merged(state, part));
  const starts = part ? torn(part, { transactionItems }) : after ? afterMerge(after) : fresh;
  return scenarioOf(name, starts, actors, judgement(initial, operations), {
    cost,
    maybe: part ? ['merge'] : [],
    onRecord(item) {
      const message = finishingOf(item, transactionItems);
      if (!message) return [];
      if (!early) return [message];
      const names = [message.name, `${message.name} again`].slice(0, early);
      return names.map((each) => ({ ...message, name: each, early: true }));
    },
  });
}
