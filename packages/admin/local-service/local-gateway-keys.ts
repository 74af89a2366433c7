import type { Table } from '../../../lib/dynamodb/client.ts';
import { noteGatewayKey } from '../accounts/accounts.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';

const PREFIX = 'local-account-';

/** The gateway keys of one machine: there is no API Gateway to make them, so the local gateway takes all that look like one. */
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
