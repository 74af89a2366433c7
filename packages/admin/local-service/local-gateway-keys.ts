import type { Table } from '../../../lib/table/client.ts';
import { storeGatewayKey } from '../accounts/accounts.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';

const PREFIX = 'local-account-';

/** Gateway keys without an API Gateway: the local gateway accepts every key of this form. */
export function createLocalGatewayKeys(table: Table): GatewayKeys {
  return {
    provision: (account) => storeGatewayKey(table, account, `${PREFIX}${account}`),
    remove: async () => {},
  };
}

export const isLocalGatewayKey = (value: string) => value.startsWith(PREFIX);
