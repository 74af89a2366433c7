import type { Int64 } from '../json.ts';
import { batchGet, type Row, rowName } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { type Key, keys } from '../table/keys.ts';
import type { RawRow } from './rows.ts';

/** Both rows of one host, as stored. */
export async function readHost(
  table: Table,
  account: Int64,
  hostId: string,
): Promise<{ host: RawRow | undefined; live: RawRow | undefined }> {
  const [hostKey, statusKey] = [keys.host(account, hostId), keys.hostStatus(account, hostId)];
  const rows = await batchGet(table, [hostKey, statusKey]);
  const read = (key: Key): RawRow | undefined => {
    const row: Row | undefined = rows.get(rowName(key));
    if (!row) return undefined;
    const { pk: _pk, sk: _sk, ...fields } = row;
    return { host_id: hostId, ...fields };
  };
  return { host: read(hostKey), live: read(statusKey) };
}
