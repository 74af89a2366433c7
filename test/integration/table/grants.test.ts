import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { createFinishMerges, OVERDUE } from '../../../lib/operations/merge-alerts/finish.ts';
import { keys } from '../../../lib/table/keys.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { relayed } from '../../support/events.ts';
import { type AroundCall, aroundCalls, connectionLost, dyingAfterCommit, onceBefore } from '../../support/faults.ts';
import { feedOver } from '../../support/feed.ts';
import { hostId, inventory, live, newFleet } from '../../support/fleet.ts';
import { type Account, finishFeed, newAccount } from '../../support/incidents.ts';
import { callOperation, connectAgain, handlersOver, newTable, put, stored, testDeps } from '../../support/service.ts';
import { grantedTo, requiredPermissions } from './grants.ts';

const table = await newTable();

/** A client of the table, and the permissions that its calls so far required. @param around runs around them */
function recordingClient(around: AroundCall = (_call, send) => send()) {
  const connection = connectAgain(table);
  const required = new Set<string>();
  aroundCalls(connection, (call, send) => {
    const action = call.command.replace(/Command$/, '');
    for (const permission of requiredPermissions(action, call.input)) required.add(permission);
    return around(call, send);
  });
  return { connection, required };
}
/** Loses the reply to each update, so that the function reads whether it was applied. */
const losingUpdates: AroundCall = async ({ command }, send) => {
  await send();
  if (command.startsWith('Update')) throw connectionLost();
};

/** Merges one of the alerts into another incident after a large merge has read them: so the large one must correct its origins. */
const overtaking = (tenant: Account, alertId: string | undefined) =>
  onceBefore('TransactWrite', async () => {
    const { mergeAlerts } = handlersOver(testDeps(table));
    await tenant.merge(mergeAlerts, { alert_ids: [alertId], incident_id: await tenant.incident() });
  });

/** An account with a merge of 120 alerts whose function died after the commit. @returns its feed entry, too */
async function newPendingMerge() {
  const tenant = await newAccount(table);
  const [to, alert_ids] = [await tenant.incident(), await tenant.alerts(120)];
  const dying = connectAgain(table);
  aroundCalls(dying, dyingAfterCommit());
  aroundCalls(dying, overtaking(tenant, alert_ids[0]));
  const { mergeAlerts } = handlersOver(testDeps(dying));
  expectEnvelope(await tenant.merge(mergeAlerts, { alert_ids, incident_id: to }), 200);
  const [entry] = await tenant.feed(to);
  expect(entry.pending).toBe(true);
  return { tenant, entry };
}

describe('what a function does with the table is what it may do, no more and no less', () => {
  it('browse-fleet', async () => {
    const tenant = await newFleet(table);
    // Statuses of hosts that are gone: there are so many that range reads do not reach all statuses, and some are read by their keys.
    const hosts = Array.from({ length: 20 }, (_, index) => [hostId(100 + 10 * index), inventory()] as const);
    const reports = Array.from({ length: 300 }, (_, index) => [hostId(index), live()] as const);
    await tenant.putHosts(Object.fromEntries(hosts));
    await tenant.putLive(Object.fromEntries(reports));
    const { connection, required } = recordingClient(losingUpdates);
    await callOperation(handlersOver(testDeps(connection)), browseFleet, { appKey: tenant.appKey, body: {} });
    expect(required).toEqual(grantedTo('browse-fleet'));
  });

  it('get-rum-resource', async () => {
    const { account, appKey } = await newAccount(table);
    await put(table, keys.rumResource(account), RUM_RECORD);
    const { connection, required } = recordingClient();
    const handlers = handlersOver(testDeps(connection));
    for (let call = 0; call < 2; call += 1) await callOperation(handlers, getRumResource, { appKey, body: {} });
    expect(required).toEqual(grantedTo('get-rum-resource'));
  });

  it('delete-work-item', async () => {
    const { account, appKey } = await newAccount(table);
    const { connection, required } = recordingClient(losingUpdates);
    const body = { work_item_id: 'w', version: 1 };
    await put(table, keys.workItem(account, 'w'), { ...body, title: 't' });
    await callOperation(handlersOver(testDeps(connection)), deleteWorkItem, { appKey, body });
    expect(required).toEqual(grantedTo('delete-work-item'));
  });

  it('merge-alerts', async () => {
    const { tenant } = await newPendingMerge();
    await tenant.member(1);
    const [to, elsewhere, alerts] = [await tenant.incident(), await tenant.incident(), await tenant.alerts(150)];
    const lost: string[] = [];
    let losesReplies = false;
    const overtake = overtaking(tenant, alerts[0]);
    const { connection, required } = recordingClient(async (call, send) => {
      const { command } = call;
      await (losesReplies ? overtake(call, send) : send());
      if (!losesReplies || !/^(Update|TransactWrite)/.test(command) || lost.includes(command)) return;
      lost.push(command);
      throw connectionLost();
    });
    const { mergeAlerts } = handlersOver(testDeps(connection));
    const merge = async (body: object, headers = {}) =>
      expectEnvelope(await tenant.merge(mergeAlerts, body, { headers }), 200);
    const withAllFields = { alert_ids: alerts.slice(0, 2), incident_id: to, owner_id: 1, title: 'New' };
    await merge(withAllFields, { 'Idempotency-Key': 'k' });
    await merge({ alert_ids: alerts.slice(0, 3), incident_id: to }); // two are already there
    // After the lost replies the handler reads the count and the feed to see whether they are written, and makes the pending moves.
    losesReplies = true;
    await merge({ alert_ids: alerts, incident_id: elsewhere });
    expect(lost).toEqual(['UpdateItemCommand', 'TransactWriteItemsCommand']);
    expect(required).toEqual(grantedTo('merge-alerts'));
  });

  it('finish-merges', async () => {
    const { entry } = await newPendingMerge();
    const { connection, required } = recordingClient();
    await finishFeed(connection, [entry]);
    await createFinishMerges(testDeps(connection))(OVERDUE, { getRemainingTimeInMillis: () => 60_000 });
    expect(required).toEqual(grantedTo('finish-merges'));
  });

  it('relay', async () => {
    const { tenant, entry } = await newPendingMerge();
    await finishFeed(table, [entry]);
    const rows = [{ pk: entry.pk, sk: entry.sk }, keys.mergeOrder(tenant.account)];
    const images = await Promise.all(rows.map(async (key) => marshall(await stored(table, key))));
    const records = images.map((NewImage) => ({ eventName: 'INSERT', dynamodb: { NewImage } }) as DynamoDBRecord);
    const { connection, required } = recordingClient();
    expect((await relayed(connection, records)).events.map(({ type }) => type)).toEqual([
      'AlertsMerged',
      'MergeCompleted',
    ]);
    expect(required).toEqual(grantedTo('relay'));
  });

  it('ingest-records', async () => {
    const tenant = await newAccount(table);
    const at_ms = 1_795_000_000_000;
    const newRecord = (kind: string, fields: object) => ({ kind, account_id: tenant.account, at_ms, ...fields });
    const [incident_id, alert_id] = ['1'.repeat(24), '2'.repeat(24)];
    await feedOver(table, () => at_ms).send(
      newRecord('incident', { incident_id, title: 't', at_ms: at_ms - 2 }),
      newRecord('alert', { alert_id, title: 't' }),
    );
    const { mergeAlerts: handler } = handlersOver(testDeps(table, { now: () => at_ms }));
    expectEnvelope(await tenant.merge(handler, { alert_ids: [alert_id], incident_id, title: 'merged' }), 200);
    const { connection, required } = recordingClient();
    const feed = feedOver(connection, () => at_ms);
    await feed.send(
      newRecord('host', { host_id: 'h', retired: true }),
      newRecord('member', { member_id: 1, name: 'n' }),
      newRecord('work_item', { work_item_id: 'w', version: 1, title: 't' }),
      newRecord('incident', { incident_id, title: 't2', at_ms: at_ms - 1 }),
      newRecord('alert', { alert_id, title: 't2', at_ms: at_ms + 1 }),
      newRecord('rum_resource', RUM_RECORD),
    );
    expect(feed.refused).toEqual([]);
    expect(required).toEqual(grantedTo('ingest-records'));
  });

  it('usage-key-authorizer', async () => {
    const tenant = await newAccount(table);
    const { connection, required } = recordingClient();
    const deps = testDeps(connection);
    const authorize = createUsageKeyAuthorizer(createAppKeys(deps, { recordsUse: true }), deps, 'shared');
    const event = { methodArn: 'arn/stage/POST/x', queryStringParameters: { app_key: tenant.appKey } };
    expect(await authorize(event as unknown as Parameters<typeof authorize>[0])).toMatchObject({
      principalId: String(tenant.account),
    });
    expect(required).toEqual(grantedTo('usage-key-authorizer'));
  });
});
