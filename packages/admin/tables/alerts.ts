/** How operators see alerts. */
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import type { AlertItem } from '../../../lib/operations/alert-schema.ts';
import type { OpenAlerts } from '../incidents/alert-counts.ts';
import { type Cell, type Column, columnsOf, type Listing } from '../text/table.ts';

/** The merge that moved an alert last, and the incident that it came from. */
export interface MovedBy {
  moved_sequence?: number;
  moved_from?: string | null;
}

/** Labels of an alert that a table shows. `alert show` and the page of an alert show all. */
const LABELS_SHOWN = 4;

const statusOf = ({ alert_severity, alert_status }: AlertItem): Cell => {
  if (alert_status === undefined) return undefined;
  if (alert_status === 'Ok') return { state: 'ended' };
  return { state: alert_status.toLowerCase(), text: String(alert_severity) };
};

const incidentOf = ({ incident }: AlertItem): Cell =>
  incident && {
    id: incident.incident_id,
    text: incident.title ?? '(does not exist)',
    path: ['incident', incident.incident_id],
  };

const pairsOf = (texts: AlertItem['labels'] = {}): string[] =>
  Object.entries(texts).map(([name, text]) => `${name}=${text}`);

export const ALERTS: Listing<AlertItem> = {
  columns: [
    { title: 'alert', of: ({ alert_id: id, title }) => ({ id, text: title, path: ['alert', id] }) },
    { title: 'status', of: statusOf },
    { title: 'started', of: 'start_time', as: 'seconds' },
    { title: 'ended', of: 'end_time', as: 'seconds' },
    { title: 'incident', of: incidentOf },
    { title: 'key', of: 'alert_key' },
    {
      title: 'labels',
      of({ labels }) {
        const all = pairsOf(labels);
        return all.length > LABELS_SHOWN
          ? [...all.slice(0, LABELS_SHOWN), `and ${all.length - LABELS_SHOWN} more`]
          : all;
      },
    },
  ],
  none: 'No alert is open. Only alerts with a key are open or ended.',
};

const OPEN = 'Open alerts';
/** How alerts are listed. @param severity the only one that is listed; undefined: all are */
export function alertListing(title: string = OPEN, severity?: Severity): Listing<AlertItem> {
  if (severity)
    return { ...ALERTS, title, none: title === OPEN ? `No open alert is ${severity}.` : `None is ${severity}.` };
  return { ...ALERTS, title, none: title === OPEN ? ALERTS.none : 'There are none.' };
}

/** With their accounts. */
export const withAccounts = (listing: Listing<AlertItem>): Listing<AlertItem> => ({
  ...listing,
  columns: [{ title: 'account', of: 'account_id' }, ...listing.columns],
});

export const OPEN_ALERTS: Listing<OpenAlerts> = {
  title: OPEN,
  columns: [
    {
      title: 'account',
      of: ({ account_id: account }) => ({ text: String(account), path: ['alerts'], account }),
    },
    ...SEVERITIES.map((of): Column<OpenAlerts> => ({ title: of, of, as: 'count' })),
  ],
  none: '',
};

/** Columns for all fields of an alert. */
export const alertColumns = (alert: AlertItem & MovedBy): Column<AlertItem & MovedBy>[] => [
  { title: 'status', of: statusOf },
  ...columnsOf(alert, {
    alert_id: ({ alert_id }) => ({ copy: alert_id }),
    alert_key: ({ alert_key = '' }) => ({ copy: alert_key }),
    labels: ({ labels }) => pairsOf(labels),
    annotations: ({ annotations }) => pairsOf(annotations),
    source_url: ({ source_url = '' }) => ({ url: source_url }),
    end_time: ({ end_time }) => (Number(end_time) === 0 ? 'open' : { atMs: Number(end_time) * 1_000 }),
    incident: incidentOf,
  }),
];
