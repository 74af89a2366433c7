/** A scenario of merges: the table before, the callers, and what finishes large merges. */
import type { Scenario } from './explore.ts';
import { afterMerges, finishMessageOf, MERGE_LIMITS, THREE, TWO, torn, UNTOUCHED } from './merge-actors.ts';
import { judgement, type Merge, merged, type State } from './merge-model.ts';
import { type Apply, type ModelledActor, scenarioOf } from './scenario.ts';
import type { Rows } from './table-double.ts';

interface Setting extends Pick<Scenario, 'isHurried' | 'excludedFault'> {
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
  readonly replacesFinisher?: ModelledActor<State>;
}

export function mergeScenario(
  name: string,
  cost: Scenario['cost'],
  actors: readonly ModelledActor<State>[],
  {
    misplaced,
    earlierMerges = misplaced ? [{ alerts: [misplaced], into: TWO }] : [],
    torn: tornMerges = [],
    startsWhere = () => true,
    transactionItems = MERGE_LIMITS.transactionItems,
    earlyDeliveries,
    replacesFinisher,
    ...rest
  }: Setting = {},
): Scenario {
  const after = earlierMerges.reduce((state, merge) => merged(state, merge).state, UNTOUCHED);
  const initial = misplaced ? { ...after, incidentOf: { ...after.incidentOf, [misplaced]: THREE } } : after;
  const starts = tornMerges.length > 0 ? torn(tornMerges, { transactionItems }) : afterMerges(earlierMerges, misplaced);
  return scenarioOf(name, async () => (await starts()).filter(startsWhere), actors, judgement(initial), {
    cost,
    ...rest,
    optional: Object.fromEntries(
      tornMerges.map((merge, index): [string, Apply<State>] => [`merge ${index}`, (state) => merged(state, merge)]),
    ),
    ...(replacesFinisher && { ofMessages: replacesFinisher.operations }),
    messagesFor(item) {
      const message = finishMessageOf(item, transactionItems);
      if (!message) return [];
      if (replacesFinisher && item.incident_id === THREE)
        return [{ name: replacesFinisher.name, script: replacesFinisher.script }];
      if (!earlyDeliveries) return [message];
      const names = [message.name, `${message.name} again`].slice(0, earlyDeliveries);
      return names.map((processName) => ({ ...message, name: processName, early: true }));
    },
  });
}
