/** How operators see hosts and fleets. */
import type { FleetStatus } from '../../../lib/operations/browse-fleet/host.ts';
import { FLEET_STATUSES } from '../../../lib/operations/browse-fleet/schema.ts';
import { REASON_TEXTS } from '../../client/src/explain.ts';
import type { ShownHost } from '../fleet/hosts.ts';
import { shownFields } from '../text/printable.ts';
import { columnsOf, type Fields, fieldsOf, type Listing } from '../text/table.ts';

export const HOSTS: Listing<ShownHost> = {
  title: 'Hosts',
  columns: [
    { title: 'host', of: ({ host_id: text }) => ({ text, path: ['host'], query: { id: text } }) },
    { title: 'status', of: 'status', as: 'state' },
    {
      title: 'why',
      of: ({ reasons, why, rule }) => ({
        brief: reasons.map((reason) => REASON_TEXTS[reason] ?? reason).join(', '),
        text: `${why} (rule ${rule})`,
      }),
    },
    { title: 'edge cluster', of: 'edge_cluster' },
    { title: 'agent version', of: 'agent_version' },
    { title: 'reported', of: 'reportedAtMs', as: 'time' },
  ],
  none: 'There are no such hosts.',
};

/** The fields of a row of a host. */
export function hostFields(title: string, row: object | undefined): Fields {
  if (!row) return { title, fields: [['none', '']] };
  const shown = shownFields(row);
  const columns = columnsOf(shown).sort((a, b) => a.title.localeCompare(b.title));
  return { title, ...fieldsOf(columns, shown) };
}

export type StatusCounts = Record<FleetStatus, number>;

/** The hosts of each status in an edge cluster. */
export const CLUSTERS: Listing<{ name: string; counts: StatusCounts }> = {
  columns: [
    { title: 'edge cluster', of: 'name' },
    ...FLEET_STATUSES.map((title) => ({ title, of: ({ counts }: { counts: StatusCounts }) => counts[title] })),
  ],
  none: '',
};
