/**
 * Checks that the row of each alert key names the key's last alert and its state. The latest order decides, wherever it is: a table restored to
 * a point in time may contain only one of the two rows that opened or ended an alert. An alert whose row is missing counts as never opened.
 */
import { endOf, ttlOfEnd } from '../../../lib/ingest/alert-writes.ts';
import { isOpenAlert } from '../../../lib/model/alert.ts';
import { isBefore, type Order, timeOf } from '../../../lib/model/order.ts';
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
      : [{ id, row, alertKey: row.alert_key, order: row.key_order as Order, isOpen: isOpenAlert(row) }],
  );
  const alertsOfKeys = Map.groupBy(keyed, ({ alertKey }) => alertKey);
  for (const alertKey of new Set([...alertsOfKeys.keys(), ...alertKeys.keys()])) {
    const stored = alertKeys.get(alertKey);
    const ofKey = alertsOfKeys.get(alertKey) ?? [];
    type Keyed = (typeof ofKey)[number];
    const isLater = (a: Keyed, b: Keyed) =>
      isBefore(b.order, a.order) || (!isBefore(a.order, b.order) && a.id === stored?.alert_id);
    const last = ofKey.reduce<Keyed | undefined>(
      (latest, alert) => (!latest || isLater(alert, latest) ? alert : latest),
      undefined,
    );
    /** The end that the row of the key has and no alert: the alerts' rows are from before it. */
    const end = stored && !stored.is_open && isBefore(last?.order, stored.row_order) ? stored.row_order : undefined;
    const order = end ?? last?.order;
    const ttl = order && ((end ? stored?.ttl : last?.row.ttl) ?? ttlOfEnd(order));
    for (const { id, row, isOpen } of ofKey) {
      if (!last || !order || !ttl || !isOpen || (id === last.id && !end)) continue;
      const ended = {
        ...endOf(account, row, timeOf(order), ttl),
        ...(id === last.id && { key_order: order }),
        event: undefined,
      };
      const update = updateAction(keys.alert(account, id), set(ended), isAsRead(row, ['key_order', 'ended_at_ms']));
      const why = id === last.id ? 'its key has ended since' : `alert ${last.id} of its key is later`;
      yield finding(id === last.id ? 'alert_not_ended' : 'alert_open_twice', { alert_id: id }, why, update);
    }
    const isOpen = last?.isOpen === true && !end;
    // Only the alert's row has the order of a record that changes an open alert.
    const isInOrder = isOpen || (last && !isBefore(stored?.row_order, last.order));
    const isRight = stored?.alert_id === last?.id && stored?.is_open === isOpen && isInOrder;
    if (last ? isRight : !stored) continue;
    const isAsStored = is('row_order', stored?.row_order);
    const key = keys.alertKey(account, alertKey);
    const state = last && { alert_id: last.id, is_open: isOpen, row_order: order, ttl: isOpen ? undefined : ttl };
    yield finding(
      'alert_key_outdated',
      { alert_id: (last?.id ?? stored?.alert_id) as string },
      last ? `it is the last alert of its key, and ${isOpen ? 'open' : 'has ended'}` : 'it does not exist',
      state ? updateAction(key, set(state), isAsStored) : deleteAction(key, isAsStored),
    );
  }
}
