/** Checks that no host is left that was retired since its last record: its rows may be of a time before its retirement. */
import { removalOf } from '../../../lib/ingest/host-rows.ts';
import { isBefore, type Order } from '../../../lib/model/order.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { is } from '../../../lib/table/expression.ts';
import { keys, partitions, type Stored } from '../../../lib/table/keys.ts';
import { batchGet, queryRows } from '../../../lib/table/read.ts';
import { type Action, deleteAction, updateAction } from '../../../lib/table/write.ts';
import { type Finding, findingsOf } from './finding.ts';

/** @returns a finding for each host of which a row is older than its retirement */
export async function checkHosts(table: Table, account: Int64): Promise<Finding[]> {
  const retirements = await queryRows(table, partitions.retirement(account));
  const { rows } = await batchGet(
    table,
    retirements.flatMap(({ sk: id }) => [keys.host(account, id), keys.hostStatus(account, id)]),
  );
  return retirements.flatMap(({ sk: host_id, row_order: retired }) => {
    const fixes = [rows.of(keys.host(account, host_id)), rows.of(keys.hostStatus(account, host_id))].flatMap((row) =>
      row ? retirementOf(row, retired) : [],
    );
    if (fixes.length === 0) return [];
    return findingsOf(account)('host_not_retired', { host_id }, 'a row is older than the retirement', ...fixes);
  });
}

/** The writes of the retirement on a row, on the condition that it is unchanged; none if it has been done, or the row is later. */
function retirementOf(row: Stored<'host' | 'hostStatus'>, retired: Order): Action[] {
  const { row_order: order } = row as { row_order?: Order };
  if (order && isBefore(order, retired)) return [deleteAction(row, is('row_order', order))];
  const removal = removalOf({ ...row }, retired);
  return removal ? [updateAction(row, removal.update, removal.isAsStored)] : [];
}
