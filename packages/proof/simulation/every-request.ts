/** Runs the real code on the table double, so that it makes every kind of request. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { sampleData } from '../../../infra/generate/sample.ts';
import { createAppKeys } from '../../../lib/auth/app-keys.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import type { AccountRow } from '../../../lib/dynamodb/rows.ts';
import { putOwnRow } from '../../../lib/dynamodb/transact.ts';
import { browseFleet } from '../../../lib/http/operations.ts';
import { createRateLimiter } from '../../../lib/http/rate-limit.ts';
import { createDeleteWorkItem } from '../../../lib/operations/delete-work-item/delete.ts';
import { createMergeAlerts } from '../../../lib/operations/merge-alerts/merge.ts';
import { finishMerge } from '../../../lib/operations/merge-alerts/move.ts';
import { readFeed } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import {
  changeAccount,
  listAccounts,
  listAppKeys,
  putAccount,
  readAccount,
  removeGatewayKeys,
  storeGatewayKey,
} from '../../admin/accounts/accounts.ts';
import { identityOfAppKey, putAppKey, revokeAppKey, rotateAppKey } from '../../admin/accounts/app-key-admin.ts';
import { auditAction, readAudit } from '../../admin/accounts/audit-rows.ts';
import { checkTable } from '../../admin/check/check.ts';
import { repair } from '../../admin/check/repair.ts';
import { loadData } from '../../admin/data/load.ts';
import { listIncidents, listMerges } from '../../admin/incidents/list.ts';
import { readWorkItem, restoreWorkItem } from '../../admin/incidents/restore-work-item.ts';
import { readSnapshot } from '../../admin/incidents/snapshot.ts';
import { undoMerge } from '../../admin/incidents/undo-merge.ts';
import { connectDouble } from './double-client.ts';
import { callOf, depsOver, id, START_MS } from './surroundings.ts';
import { type Request, TableDouble } from './table-double.ts';
import type { Item } from './values.ts';

const LARGE = 5;

/** @returns all requests but scans, in their order, and the rows before any of them is deleted */
export async function everyRequest(): Promise<{ requests: Request[]; items: Item[] }> {
  const requests: Request[] = [];
  const double = new TableDouble();
  const table = connectDouble(async (request) => {
    requests.push(request);
    return double.apply(request);
  });
  const deps = depsOver(table);
  const account = 1;
  const audit = (index: number) => [
    auditAction(account, { id: `a${index}`, at_ms: index, by: 'op', command: 'c', result: 'started' }),
  ];
  for (const each of [1, 2]) await putAccount(table, { account_id: each, name: 'Acme', permissions: ['monit'] });
  await putAccount(table, { account_id: 2, name: 'Other', permissions: [], suspended: true });
  const stored = async () => (await readAccount(table, account)) as AccountRow;
  const [first, second, third] = [identityOfAppKey('first'), identityOfAppKey('second'), identityOfAppKey('third')];
  await putAppKey(table, await stored(), first, { created_at: 1 }, audit(1));
  await putAppKey(table, await stored(), first, { created_at: 1, expires_at: 9_000_000_000, note: 'n' });
  await putAppKey(table, await stored(), first, { created_at: 1 });
  const next = { identity: second, limits: { created_at: 2 } };
  await rotateAppKey(table, await stored(), { hash: first.hash }, next, 9_000_000, audit(2));
  await putAppKey(table, await stored(), third, { created_at: 3, revoked_at: 3 });
  await changeAccount(table, account, () => ({ permissions: [] }), audit(3));
  await changeAccount(table, account, () => ({ suspended: true }));
  await storeGatewayKey(table, account, 'gateway');
  await changeAccount(table, account, () => ({ suspended: false }));
  await removeGatewayKeys(table);
  await revokeAppKey(table, account, second.hash, 3, audit(4));
  await listAppKeys(table, await stored());
  await listAccounts(table);
  await createAppKeys(deps).find('first');
  await readAudit(table, account, 0);
  await putOwnRow(table, { ...keys.audit(account, 5, 'own'), id: 'own' });

  const limiter = createRateLimiter(browseFleet, deps);
  for (const _ of [1, 2, 3]) await limiter.take(account);

  const lines = [
    { kind: 'work_item', work_item_id: 'w', version: 1, title: 't' },
    ...sampleData(START_MS)
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === 'rum_resource'),
    ...[5, 6, 7].map((member_id) => ({ kind: 'member', member_id, name: 'Ada' })),
    ...[1, 2, 3].map((index) => ({ kind: 'incident', incident_id: id(index), title: 'Old' })),
    ...[11, 12, 13].map((index) => ({ kind: 'alert', alert_id: id(index), title: 'Alert', incident_id: id(1) })),
    { kind: 'alert', alert_id: id(14), title: 'Alert' },
  ].map((line) => JSON.stringify({ account_id: account, ...line }));
  await loadData(table, 'data', lines, { nowSeconds: 1 });
  const remove = createDeleteWorkItem(deps);
  for (const version of [2, 1, 1]) await remove(callOf({ work_item_id: 'w', version }, account)).catch(() => {});
  await loadData(table, 'data', lines.slice(0, 1), { nowSeconds: 1 });
  const deleted = await readWorkItem(table, account, 'w');
  if (deleted) await restoreWorkItem(table, account, deleted, audit(6));

  const merge = createMergeAlerts(deps);
  const large = createMergeAlerts(deps, { transactionItems: LARGE });
  const alerts = [id(11), id(12), id(13), id(14)];
  const body = { alert_ids: alerts, incident_id: id(2), title: 'New', owner_id: 5, comment: 'c' };
  for (const _ of [1, 2]) await merge(callOf(body, account, 'key'));
  await merge(callOf({ alert_ids: alerts.slice(1), incident_id: id(2) }, account));
  await large(callOf({ alert_ids: alerts, incident_id: id(3), title: 'Newer' }, account, 'key 2'));
  await large(callOf({ alert_ids: alerts, incident_id: id(1) }, account));
  for (const incidentId of [id(1), id(2), id(3)])
    for (const { entry } of await readFeed(table, account, incidentId)) {
      const request = { account, incidentId, sequence: entry.sequence, by: 'op', requestId: 'r' };
      await finishMerge(table, account, request);
      await undoMerge(deps, request, incidentId === id(1) ? { transactionItems: LARGE } : {}).catch(() => {});
    }
  await loadData(table, 'data', lines.slice(-2), { nowSeconds: 1 });
  await listIncidents(table, account);
  await listMerges(table, account, 1);
  await readSnapshot(table, account);

  // Each row is lost once, as by a restore, so that every repair runs.
  const whole = double.items();
  for (const lost of whole) {
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk: lost.pk, sk: lost.sk } }));
    for await (const findings of checkTable(table)) await repair(table, findings);
  }
  return { requests: requests.filter(({ name }) => name !== 'ScanCommand'), items: whole };
}
