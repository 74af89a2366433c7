/** A scenario of merges: the table before, the callers, and what finishes large merges. */
import type { Scenario } from './explore.ts';
import {
  afterMerges,
  finishingOf,
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
import type { Rows } from './table-double.ts';
import type { Cast } from './transition-system.ts';

interface Setting extends Pick<Cast, 'isHurried' | 'without'> {
  /** Merges committed before the scenario starts. An undo needs one into incident 2, and undoes the first of these. */
  readonly earlierMerges?: readonly Merge[];
  /** An alert that was merged into incident 2 and is now in incident 3 without a feed entry for that move. */
  readonly misplaced?: string;
  /** Merges of which a restore has kept some writes and lost others. */
  readonly torn?: readonly Merge[];
  /** Keeps only the starting tables for which it is true. */
  readonly startsWhere?: (rows: Rows) => boolean;
  /** Maximum items in a transaction of the finisher, and of the torn merges. */
  readonly transactionItems?: number;
  /** How many times the message of a large merge is delivered while the merge still runs. */
  readonly earlyDeliveries?: 1 | 2;
  /** Runs when the merging process has ended, in place of the finisher of the large merge into incident 3, whose message is lost. */
  readonly replacesFinisher?: MergeActor;
}

export function mergeScenario(
  name: string,
  cost: Scenario['cost'],
  actors: readonly MergeActor[],
  setting: Setting = {},
): Scenario {
  const { misplaced: moved, torn: parts = [], startsWhere, earlyDeliveries, replacesFinisher, ...rest } = setting;
  const { transactionItems = SIZES.transactionItems, earlierMerges: given = [], ...more } = rest;
  const earlierMerges = moved ? [{ alerts: [moved], into: TWO }] : given;
  const after = earlierMerges.reduce((state, what) => merged(state, what).state, UNTOUCHED);
  const initial = moved ? { ...after, at: { ...after.at, [moved]: THREE } } : after;
  const all = replacesFinisher ? [...actors, replacesFinisher] : actors;
  const operations = new Map(all.flatMap((one) => [...one.operations]));
  for (const [index, part] of parts.entries()) operations.set(`merge ${index}`, (state) => merged(state, part));
  const starts =
    parts.length > 0 ? torn(parts, { transactionItems }) : moved ? misplaced(moved) : afterMerges(earlierMerges);
  const chosen = startsWhere ? async () => (await starts()).filter(startsWhere) : starts;
  return scenarioOf(name, chosen, actors, judgement(initial, operations), {
    cost,
    ...more,
    optional: parts.map((_, index) => `merge ${index}`),
    onRecord(item) {
      const message = finishingOf(item, transactionItems);
      if (!message) return [];
      if (replacesFinisher && item.incident_id === THREE)
        return [{ name: replacesFinisher.name, script: replacesFinisher.script }];
      if (!earlyDeliveries) return [message];
      const names = [message.name, `${message.name} again`].slice(0, earlyDeliveries);
      return names.map((each) => ({ ...message, name: each, early: true }));
    },
  });
}
