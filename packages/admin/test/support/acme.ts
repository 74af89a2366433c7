/** The account of the examples in help and documents, with everything that they name. */

import { deleteWorkItem } from '../../../../lib/operations/delete-work-item/schema.ts';
import { mergeAlerts } from '../../../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../../../lib/table/client.ts';
import { RUM_RECORD } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { inventory } from '../../../../test/support/fleet.ts';
import { eventFor, handlersOver, invokeAlone, testDeps } from '../../../../test/support/service.ts';
import { lines } from './data-lines.ts';
import { type AdminOptions, adminOf, runCommand } from './run-admin.ts';

export const ACME = 42;
/** The id of one of its keys. */
const KEY_ID = '1f3a77c0d2b4e6f8';
const INCIDENT = '64f000000000000000000001';
const ALERTS = ['64f0000000000000000000a1', '64f0000000000000000000a2'];
/** The feed entry of its merge. */
const ENTRY = 1_795_000_000_000;

/** Makes the account: with a deleted work item, a deleted RUM resource, and two merged alerts. */
export async function makeAcme(table: Table): Promise<void> {
  const admin = adminOf(table);
  await admin(`account create ${ACME} --name Acme --permission monit`);
  const data = [
    { kind: 'app_key', app_key_hash: KEY_ID.padEnd(64, '0') },
    { kind: 'host', host_id: 'fra-1-web-0001', ...inventory({ edge_cluster: 'fra-1' }) },
    { kind: 'rum_resource', ...RUM_RECORD, deleted: true },
    { kind: 'work_item', work_item_id: 'wi-1001', version: 1, title: 't' },
    { kind: 'incident', incident_id: INCIDENT, title: 't' },
    ...ALERTS.map((alert_id) => ({ kind: 'alert', alert_id, title: 't' })),
  ].map((line) => ({ account_id: ACME, ...line }));
  const imported = await admin('import -', { stdin: lines(...data) });
  if (imported.exitCode !== 0) throw new Error(imported.err);
  const appKey = (await admin(`app-key issue --account ${ACME}`)).out.trim();
  const handlers = handlersOver(testDeps(table, { now: () => ENTRY }));
  for (const [handler, operation, body] of [
    [handlers.deleteWorkItem, deleteWorkItem, { work_item_id: 'wi-1001', version: 1 }],
    [handlers.mergeAlerts, mergeAlerts, { alert_ids: ALERTS, incident_id: INCIDENT }],
  ] as const) {
    const { text, status } = await invokeAlone(handler, eventFor(operation, { appKey, body }));
    if (status !== 200) throw new Error(text);
  }
}

/** The operator's command on a table, or on AWS where its options say so (see `startFakeAws`). */
export const adminOn =
  (table: Table) =>
  (args: readonly string[], options: AdminOptions = {}) => {
    const onAws = args.includes('--stack') || args.includes('--region');
    const env: Record<string, string> = onAws
      ? { AWS_REGION: 'eu-west-1' }
      : { DYNAMODB_ENDPOINT: dynamodbEndpoint(), TABLE_NAME: table.name };
    // The console runs until it is stopped.
    const signal = args[0] === 'console' && { signal: AbortSignal.timeout(100) };
    return runCommand([...args, '--yes'], { env, ...signal, ...options });
  };
