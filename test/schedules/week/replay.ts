/** Replays the write log of a week: what its merges and undos did, in the order of their commits. */
import { expect } from 'vitest';
import { laterOrder } from '../../../lib/model/order.ts';
import { type EntryWithMoves, entryOf, isMoved } from '../../../lib/operations/merge-alerts/entry.ts';
import { type Key, keys, parseKey, type Stored } from '../../../lib/table/keys.ts';
import { rowName } from '../../../lib/table/read.ts';
import type { Item } from '../../table-double/values.ts';
import type { Commit } from '../schedule.ts';
import { ACCOUNT } from './world.ts';

export interface Replayed {
  entries: EntryWithMoves[];
  /** Where the latest entry put each alert that any has taken. */
  placeOf: Map<string, { to: string | undefined; sequence: number }>;
  /** The incidents that an alert was in before any entry took it, by the names of rows. */
  before: Map<string, Set<unknown>>;
  /** Where entries had put alerts after each number of entries. */
  states: { commit: number; places: Map<string, string | undefined> }[];
  /** What merges gave incidents last, by their ids, each with its order then. */
  given: Map<string, Partial<Record<'title' | 'owner_id', { value: unknown; order: Uint8Array }>>>;
}

const nameOf = (row: Item) => rowName(row as unknown as Key);

/** @param final the rows after the week, whose entries have their true origins */
export function replay(commits: readonly Commit[], final: readonly Item[]): Replayed {
  const rows = new Map<string, Item>();
  const finalRows = new Map(final.map((row) => [nameOf(row), row]));
  const replayed: Replayed = {
    entries: [],
    placeOf: new Map(),
    before: new Map(),
    states: [{ commit: 0, places: new Map() }],
    given: new Map(),
  };
  const taken = new Map<number, EntryWithMoves['moves']>();
  let last = 0;

  function add(inserted: Stored<'historyEntry'>, changed: ReadonlyMap<string, Item | undefined>, commit: number): void {
    const stored = finalRows.get(rowName(inserted)) as unknown as Stored<'historyEntry'>;
    const { entry, moves } = entryOf(stored);
    const { sequence, kind, incident_id, large, new_title: title, new_owner_id: owner_id, undone_sequence = 0 } = entry;
    const what = `entry ${sequence}`;
    expect(sequence, 'the order of entries is that of their commits').toBeGreaterThan(last);
    last = sequence;
    if (kind === 'merge_undone') {
      const undone = taken
        .get(undone_sequence)
        ?.filter(({ alertId }) => replayed.placeOf.get(alertId)?.sequence === undone_sequence);
      expect(new Map(moves.map(({ alertId, to }) => [alertId, to])), `what ${what} takes back`).toEqual(
        new Map(undone?.map(({ alertId, from }) => [alertId, from])),
      );
    } else for (const { to } of moves) expect(to, what).toBe(incident_id);
    for (const { alertId, from, to } of moves) {
      const place = replayed.placeOf.get(alertId);
      const alert = rowName(keys.alert(ACCOUNT, alertId));
      // A record may name another incident while a large merge reads.
      const possible = place
        ? [place.to]
        : large
          ? [...(replayed.before.get(alert) ?? [])]
          : [rows.get(alert)?.incident_id];
      expect(possible, `where ${what} found ${alertId}`).toContain(from);
      replayed.placeOf.set(alertId, { to, sequence });
    }
    taken.set(sequence, moves.filter(isMoved));
    replayed.entries.push({ entry, moves });
    replayed.states.push({ commit, places: new Map([...replayed.placeOf].map(([id, { to }]) => [id, to])) });
    const incident = rowName(keys.incident(ACCOUNT, incident_id));
    const before = rows.get(incident);
    const given = replayed.given.get(incident_id) ?? {};
    replayed.given.set(incident_id, given);
    for (const [name, value] of Object.entries({ title, owner_id }) as ['title' | 'owner_id', unknown][]) {
      if (value === undefined) continue;
      expect(changed.get(incident), what).toMatchObject({ [name]: value });
      expect(entry, what).toMatchObject(before?.[name] === undefined ? {} : { [`old_${name}`]: before[name] });
      const order = before?.[name === 'title' ? 'title_order' : 'owner_order'] as Uint8Array | undefined;
      given[name] = { value, order: laterOrder(entry.at_ms, order) };
    }
  }

  for (const [index, { changes }] of commits.entries()) {
    const changed = new Map(changes.map(({ before, after }) => [nameOf((after ?? before) as Item), after]));
    for (const { before, after } of changes)
      if (!before && after && parseKey(after as unknown as Key)?.kind === 'historyEntry')
        add(after as unknown as Stored<'historyEntry'>, changed, index + 1);
    for (const [name, after] of changed) {
      if (after) rows.set(name, after);
      else rows.delete(name);
      const isTaken = replayed.placeOf.has(String(after?.alert_id));
      if (!isTaken) replayed.before.set(name, (replayed.before.get(name) ?? new Set()).add(after?.incident_id));
    }
  }
  return replayed;
}
