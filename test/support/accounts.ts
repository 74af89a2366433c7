/** Accounts that no other test uses. */
import { randomInt } from 'node:crypto';
import type { AppKeyRow } from '../../lib/model/app-key.ts';
import type { Table } from '../../lib/table/client.ts';
import { putAppKey } from './service.ts';

/** A random account id, from so many that two tests hardly ever get the same. */
export const newAccountId = () => randomInt(1_000_000, 2 ** 47);

/** A new account with a valid key. */
export async function newCaller(
  table: Table,
  row: Partial<AppKeyRow> = {},
): Promise<{ account: number | bigint; appKey: string }> {
  const account = row.account_id ?? newAccountId();
  return { account, appKey: await putAppKey(table, { ...row, account_id: account }) };
}

/** A stored RUM record. */
export const RUM_RECORD = {
  product: 'rum',
  version: 'professional',
  status: 'enabled',
  offering_id: 9_007_199_254_740_993n,
  order_id: 'o-1',
  resource_id: 'r-1',
  resource_name: 'RUM',
  created_at: 1_700_000_000,
  updated_at: 1_700_000_001,
  window_start_time: 1_749_000_000,
  window_end_time: 1_751_000_000,
  'action.days': 30,
  'error.days': 31,
  'long_task.days': 32,
  'resource.days': 33,
  'session.days': 34,
  'view.days': 35,
  'session_investigate.free_cnt': 1_000,
  'session_measure.free_cnt': 2_000,
  'session_replay.free_cnt': 3_000,
};

/** A stored row of RUM usage. */
export const RUM_USAGE = {
  'session_investigate.used_cnt': 1,
  'session_measure.used_cnt': 2,
  'session_replay.used_cnt': 3,
  session_limit_reached: false,
};
