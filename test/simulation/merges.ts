/** Merges, their undoing, imports of their rows, and what finishes large ones. */
import type { Scenario } from './explore.ts';
import {
  A,
  afterMerge,
  B,
  C,
  finishingOf,
  fresh,
  loadAlert,
  loadIncident,
  type MergeActor,
  merge,
  ONE,
  oneByOne,
  SIZES,
  THREE,
  TWO,
  UNTOUCHED,
  undo,
  withRetry,
} from './merge-actors.ts';
import { judgement, merged } from './merge-model.ts';
import { scenarioOf } from './scenario.ts';
import { id } from './surroundings.ts';

interface Setting {
  readonly name: string;
  readonly cost: Scenario['cost'];
  readonly actors: readonly MergeActor[];
  /** These alerts are merged before. */
  readonly after?: string[];
  /** Of what finishes large merges. */
  readonly transactionItems?: number;
  /** The message of a large merge comes at once, and twice. */
  readonly early?: boolean;
}

function scenario({ name, cost, actors, after, transactionItems = SIZES.transactionItems, early }: Setting): Scenario {
  const initial = after ? merged(UNTOUCHED, { alerts: after, into: TWO }).state : UNTOUCHED;
  const operations = new Map(actors.flatMap((one) => [...one.operations]));
  return scenarioOf(name, after ? afterMerge(after) : fresh, actors, judgement(initial, operations), {
    cost,
    onRecord(item) {
      const message = finishingOf(item, transactionItems);
      if (!message) return [];
      if (!early) return [message];
      return [message.name, `${message.name} again`].map((each) => ({ ...message, name: each, early }));
    },
  });
}

const SMALL = { alerts: [A], into: TWO };

export const MERGES: readonly Scenario[] = [
  scenario({
    name: 'merges of an alert that does not exist',
    cost: 1,
    actors: [
      merge('small of none', { alerts: [id(99)], into: TWO }),
      merge('large of some', { alerts: [A, id(99)], into: THREE }),
    ],
  }),
  scenario({
    name: 'two small merges of one alert',
    cost: 1,
    actors: [
      merge('small 1', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
      merge('small 2', { alerts: [A], into: THREE }),
    ],
  }),
  scenario({
    name: 'three small merges of one alert',
    cost: 3,
    actors: [TWO, THREE, ONE].map((into, at) => merge(`one of three ${at}`, { alerts: [A], into })),
  }),
  scenario({
    name: 'two small merges, each said again under its key',
    cost: 2,
    actors: [
      withRetry('keyed 1', SMALL, { transactionItems: 4 }),
      withRetry('keyed 2', { alerts: [A], into: THREE }, { transactionItems: 4 }),
    ],
  }),
  // Whose clock is ahead is told by their order.
  scenario({
    name: 'a large and a small merge of one alert',
    cost: 4,
    actors: [merge('large', { alerts: [A, B], into: THREE }), merge('small', SMALL)],
  }),
  scenario({
    name: 'a small and a large merge of one alert',
    cost: 4,
    actors: [merge('small', SMALL), merge('large', { alerts: [A, B], into: THREE })],
  }),
  scenario({
    name: 'two large merges that share an alert',
    cost: 4,
    actors: [merge('large 1', { alerts: [A, B], into: TWO }), merge('large 2', { alerts: [B, C], into: THREE })],
  }),
  scenario({
    name: 'a large merge, said again under its key',
    cost: 2,
    actors: [withRetry('keyed large', { alerts: [A, B], into: TWO })],
  }),
  scenario({
    name: 'a merge against the undoing of an earlier one',
    cost: 2,
    after: [A],
    actors: [merge('merge', { alerts: [A], into: THREE }), undo('undo')],
  }),
  scenario({
    name: 'a large merge against the undoing of an earlier one',
    cost: 4,
    after: [A, B],
    actors: [merge('large', { alerts: [A, B], into: THREE }), undo('undo')],
  }),
  scenario({ name: 'two undoings of one merge', cost: 2, after: [A], actors: [undo('undo 1'), undo('undo 2')] }),
  scenario({
    name: 'two large undoings of one merge',
    cost: 4,
    after: [A, B],
    actors: [undo('undo 1'), undo('undo 2')],
  }),
  scenario({
    name: 'a large merge that outlives its holder',
    cost: 2,
    actors: [merge('three', { alerts: [C, A, B], into: TWO, title: 'second' })],
  }),
  scenario({
    name: 'a large merge of alerts that stay, and a small one',
    cost: 4,
    actors: [merge('staying', { alerts: [A, B], into: ONE }), merge('taking', SMALL)],
  }),
  scenario({
    name: 'small merges of an alert against its import',
    cost: 2,
    actors: [merge('small 1', SMALL), loadAlert(A, ONE), merge('small 2', { alerts: [A], into: THREE })],
  }),
  scenario({
    name: 'a small merge that changes an incident against imports',
    cost: 2,
    actors: [
      merge('small', { ...SMALL, title: 'second' }, { transactionItems: 4 }),
      oneByOne('imports', loadAlert(A, ONE), loadIncident(TWO, 'third')),
    ],
  }),
  scenario({
    name: 'a large merge that changes an incident against imports',
    cost: 4,
    actors: [
      merge('large', { alerts: [A, B], into: TWO, title: 'second' }),
      oneByOne('imports', loadAlert(A, ONE), loadIncident(TWO, 'third')),
    ],
  }),
];
