/**
 * Checks that the row of each alert key names the key's last alert and its state. The alerts decide: a table restored to a point in time may
 * contain only one of the two rows that opened or ended an alert.
 */
import { isBefore, type Order, timeOf } from '../../../lib/ingest/order.ts';
import { is, isAsRead, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { deleteAction, updateAction } from '../../../lib/table/write.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

export function* checkAlertKeys({ account, alerts, alertKeys }: MergeRows): Generator<Finding> {
  const finding = findingsOf(account);
  const keyed = [...alerts].flatMap(([id, row]) =>
    row.alert_key === undefined || row.key_order === undefined
      ? []
      : [{ id, row, alertKey: row.alert_key, order: row.key_order as Order, isOpen: row.open_partition !== undefined }],
  );
  const alertsOfKeys = Map.groupBy(keyed, ({ alertKey }) => alertKey);
  for (const alertKey of new Set([...alertsOfKeys.keys(), ...alertKeys.keys()])) {
    const stored = alertKeys.get(alertKey);
    const ofKey = alertsOfKeys.get(alertKey) ?? [];
    const last = ofKey.reduce<(typeof ofKey)[number] | undefined>(
      (latest, alert) => (latest && isBefore(alert.order, latest.order) ? latest : alert),
      undefined,
    );
    for (const { id, row, isOpen } of ofKey) {
      if (!last || !isOpen || id === last.id) continue;
      const ended = {
        open_partition: undefined,
        open_at: undefined,
        ended_at_ms: timeOf(last.order),
        event: undefined,
      };
      const end = updateAction(keys.alert(account, id), set(ended), isAsRead(row, ['key_order', 'open_partition']));
      yield finding('alert_open_twice', { alert_id: id }, `alert ${last.id} of its key is later`, end);
    }
    // DynamoDB removes the row of a key 400 days after its alert has ended.
    if (last ? (stored?.alert_id === last.id && stored.is_open === last.isOpen) || !(stored || last.isOpen) : !stored)
      continue;
    const isAsStored = is('row_order', stored?.row_order);
    const key = keys.alertKey(account, alertKey);
    const state = last && { alert_id: last.id, is_open: last.isOpen, row_order: last.order };
    yield finding(
      'alert_key_outdated',
      { alert_id: (last?.id ?? stored?.alert_id) as string },
      last ? `it is the last alert of its key, and ${last.isOpen ? 'open' : 'has ended'}` : 'it does not exist',
      state
        ? updateAction(key, set({ ...state, ...(last?.isOpen && { ttl: undefined }) }), isAsStored)
        : deleteAction(key, isAsStored),
    );
  }
}
