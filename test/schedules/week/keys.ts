/** The last word on an alert key decides whether it has an open alert, and what that says. */
import { expect } from 'vitest';
import type { IngestRecord } from '../../../lib/ingest/records.ts';
import { type Key, ofKind, type Stored } from '../../../lib/table/keys.ts';
import type { Item } from '../../table-double/values.ts';

export function expectTrueKeys(records: readonly IngestRecord[], items: readonly Item[]): void {
  const rows = items as unknown as readonly Key[];
  const alertRows = ofKind('alert', rows) as Stored<'alert'>[];
  const keyRows = ofKind('alertKey', rows) as Stored<'alertKey'>[];
  const keyed = records.filter(({ sent }) => sent.alert_key !== undefined);
  for (const [alertKey, its] of Map.groupBy(keyed, ({ sent }) => String(sent.alert_key))) {
    const { sent } = its.toSorted((a, b) => Buffer.compare(a.order, b.order)).at(-1) as IngestRecord;
    const isOpen = sent.alert_status !== 'Ok';
    const key = keyRows.find(({ sk }) => sk === alertKey);
    const alerts = alertRows.filter(({ alert_key }) => alert_key === alertKey);
    const open = alerts.filter(({ open_partition }) => open_partition !== undefined);
    expect([key?.is_open, open.map(({ alert_id }) => alert_id)], `the open alert of ${alertKey}`).toEqual([
      isOpen,
      isOpen ? [key?.alert_id] : [],
    ]);
    for (const { open_at, ended_at_ms } of alerts) expect(open_at === undefined).toBe(ended_at_ms !== undefined);
    const { title, labels, description, alert_severity } =
      alerts.find(({ alert_id }) => alert_id === key?.alert_id) ?? {};
    expect({ title, labels, description }, `the last word on ${alertKey}`).toEqual({
      title: sent.title,
      labels: sent.labels,
      description: sent.description,
    });
    if (isOpen) expect(alert_severity).toBe(sent.alert_status);
    expect(alerts.length).toBeLessThanOrEqual(its.length);
  }
}
