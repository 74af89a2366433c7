/** How operators see incidents, merges and pending merges. */
import type { Int64 } from '../../../lib/shared/json.ts';
import { effectsOf, type ListedMerge } from '../incidents/list.ts';
import type { MergeProgress } from '../incidents/pending-merges.ts';
import type { Attempt } from '../status/measured.ts';
import { countText } from '../text/printable.ts';
import type { Cell, Column, Listing } from '../text/table.ts';

export interface ShownIncident {
  incident_id: string;
  title: string;
  /** Its owner: the id of a member, or the name. */
  owner?: Int64 | string;
  /** When it was created, and last changed, in Unix milliseconds. */
  created_ms?: number | undefined;
  changed_ms?: number | undefined;
  /** Absent: not counted. */
  alerts?: number;
  entries: number;
}

export const INCIDENTS: Listing<ShownIncident> = {
  title: 'Incidents',
  columns: [
    { title: 'incident', of: ({ incident_id: id, title: text }) => ({ id, text, path: ['incident', id] }) },
    { title: 'owner', of: 'owner' },
    { title: 'created', of: 'created_ms', as: 'time' },
    { title: 'changed', of: 'changed_ms', as: 'time' },
    { title: 'alerts', of: 'alerts', as: 'count' },
    { title: 'merges', of: 'entries', as: 'count' },
  ],
  none: 'The account has no incidents. The feed takes them: docs/feed.md.',
};

/** Ids of alerts that are listed of a merge; the others are only counted. */
const MAX_IDS = 10;

export type ShownMerge = ListedMerge & { account_id?: Int64 };

const MERGE: readonly Column<ShownMerge>[] = [
  { title: 'entry', of: ({ entry }) => String(entry.sequence) },
  { title: 'at', of: ({ entry }) => ({ atMs: entry.at_ms }) },
  { title: 'account', of: 'account_id' },
  { title: 'what', of: ({ entry }) => (entry.kind === 'merge' ? 'merge' : `undo of ${entry.undone_sequence}`) },
  { title: 'state', of: ({ pending }) => ({ state: pending ? 'pending' : 'done' }) },
  { title: 'incident', of: ({ entry }) => entry.incident_id },
  {
    title: 'alerts',
    of: ({ moves, stayed, alertIds, pending }) =>
      `${moves.length} moved, ${stayed.length} already there${pending ? `, ${alertIds.length} in all` : ''}`,
  },
  { title: 'by', of: ({ entry }) => entry.by },
  { title: 'request', of: ({ entry }) => entry.request_id },
];

/** Merges in rows. */
export const MERGES: Listing<ShownMerge> = { columns: MERGE, none: 'There are no such merges.' };

/** A merge with all that it did, in fields. */
export const MERGE_FIELDS: readonly Column<ShownMerge>[] = [
  ...MERGE,
  {
    title: 'effects',
    of: (merge) => effectsOf(merge).map(({ text, incident = '' }) => `${text} ${incident}`.trimEnd()),
  },
  {
    title: 'alert ids',
    of: ({ alertIds }) =>
      alertIds.slice(0, MAX_IDS).join(' ') +
      (alertIds.length > MAX_IDS ? ` and ${alertIds.length - MAX_IDS} more` : ''),
  },
];

const progressOf = ({ alerts, moved }: MergeProgress) =>
  alerts === undefined
    ? 'its entry is missing: run `check`'
    : `${moved?.toLocaleString('en')} of ${countText(alerts, 'alert')} moved`;

/** A pending merge, by the entry that `merge finish` takes. */
export const PENDING_MERGES: Listing<MergeProgress & { last?: Attempt }> = {
  title: 'Pending merges',
  columns: [
    { title: 'since', of: ({ at_ms, sequence }) => ({ atMs: at_ms ?? sequence }) },
    { title: 'account', of: ({ account_id: account }) => ({ text: String(account), path: ['health'], account }) },
    {
      title: 'incident',
      of: ({ account_id: account, incident_id: text }) => ({ text, path: ['incident', text], account }),
    },
    { title: 'entry', of: 'sequence' },
    { title: 'progress', of: progressOf },
    { title: 'request', of: 'request_id' },
    { title: 'last attempt', of: ({ last }): Cell => last && { atMs: last.at_ms } },
    { title: 'its error', of: ({ last }) => last?.error },
    { title: 'next', of: ({ last }): Cell => (last?.next_ms === undefined ? undefined : { atMs: last.next_ms }) },
    {
      title: 'how to finish it',
      of: ({ account_id, incident_id, sequence }) => ({
        command: `merge finish ${incident_id} ${sequence} --account ${account_id}`,
      }),
    },
  ],
  none: 'No merges are pending.',
};
