import { expect, it } from 'vitest';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { newTable } from '../../../../test/support/service.ts';
import { adminOf } from '../support/run-admin.ts';

it('a file may have the line of an app key twice', async () => {
  const table = await newTable();
  const { account: account_id } = await newAccount(table);
  const line = JSON.stringify({ kind: 'app_key', account_id, app_key: 'k'.repeat(40) });
  const { exitCode, out } = await adminOf(table, dynamodbEndpoint())('import -', { stdin: `${line}\n${line}` });
  expect([exitCode, out]).toEqual([0, expect.stringContaining('2 app keys')]);
});
