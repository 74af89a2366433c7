import type { Int64 } from '../json.ts';
import { batchGet } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { type KeyOf, keys } from '../table/keys.ts';
import type { RawRow } from './rows.ts';

/** Both rows of one host, as stored. */
export async function readHost(table: Table, account: Int64, hostId: string) {
  const [hostKey, statusKey] = [keys.host(account, hostId), keys.hostStatus(account, hostId)];
  const { rows } = await batchGet(table, [hostKey, statusKey]);
  const rawOf = (key: KeyOf<'host' | 'hostStatus'>): RawRow | undefined => {
    const { pk: _pk, sk: _sk, ...fields } = rows.of(key) ?? {};
    return rows.of(key) && { host_id: hostId, ...fields };
  };
  return { host: rawOf(hostKey), live: rawOf(statusKey) };
}
