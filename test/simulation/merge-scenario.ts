/** A scenario of merges: what the table holds before, who calls, and what finishes large ones. */
import type { Scenario } from './explore.ts';
import {
  afterMerge,
  finishingOf,
  fresh,
  type MergeActor,
  misplaced,
  SIZES,
  THREE,
  TWO,
  torn,
  UNTOUCHED,
} from './merge-actors.ts';
import { judgement, type Merge, merged } from './merge-model.ts';
import { scenarioOf } from './scenario.ts';

interface Setting {
  readonly name: string;
  readonly cost: Scenario['cost'];
  readonly actors: readonly MergeActor[];
  /** These alerts are merged before. */
  readonly after?: string[];
  /** This alert is merged into incident 2 before, and then in incident 3, which no feed tells of. */
  readonly misplaced?: string;
  /** A merge that a restore has torn. */
  readonly torn?: Merge;
  /** Of what finishes large merges, and of a merge that is torn. */
  readonly transactionItems?: number;
  /** DynamoDB refuses transactions with more, as it does those of more than 4 MB. */
  readonly mostActions?: number;
  /** The message of a large merge comes at once, so often. */
  readonly early?: 1 | 2;
}

export function mergeScenario(setting: Setting): Scenario {
  const { name, cost, actors, misplaced: moved, torn: part, mostActions, early } = setting;
  const { after = moved && [moved], transactionItems = SIZES.transactionItems } = setting;
  const before = after ? merged(UNTOUCHED, { alerts: after, into: TWO }).state : UNTOUCHED;
  const initial = moved ? { ...before, at: { ...before.at, [moved]: THREE } } : before;
  const operations = new Map(actors.flatMap((one) => [...one.operations]));
  if (part) operations.set('merge', (state) => merged(state, part));
  const starts = part ? torn(part, { transactionItems }) : moved ? misplaced(moved) : after ? afterMerge(after) : fresh;
  return scenarioOf(name, starts, actors, judgement(initial, operations), {
    cost,
    ...(mostActions !== undefined && { mostActions }),
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
