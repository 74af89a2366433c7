import type { Table } from '../../../lib/dynamodb/client.ts';
import { noteGatewayKey } from '../accounts/accounts.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';

const PREFIX = 'local-account-';

/** The local gateway keys: without an API Gateway that makes them, the local gateway accepts every key of their form. */
export function createLocalGatewayKeys(table: Table): GatewayKeys {
  return {
    async provision(account) {
      const value = `${PREFIX}${account}`;
      await noteGatewayKey(table, account, value);
      return value;
    },
  };
}

export const isLocalGatewayKey = (value: string) => value.startsWith(PREFIX);
