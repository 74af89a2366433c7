import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { FunctionName } from '../../infra/grants.ts';
import { createAppKeys } from '../../lib/auth/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../lib/auth/usage-key-authorizer.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet, deleteWorkItem, getRumResource } from '../../lib/http/operations.ts';
import { createFinishMerges, OVERDUE } from '../../lib/operations/merge-alerts/finish.ts';
import { expectEnvelope } from '../support/answers.ts';
import { relayed } from '../support/events.ts';
import { type AroundCall, aroundCalls, connectionLost, dyingAfterCommit } from '../support/faults.ts';
import { feedOver } from '../support/feed.ts';
import { finishFeed } from '../support/finish.ts';
import { hostId, inventory, live, newFleet } from '../support/fleet.ts';
import { grantedTo, requiredPermissions } from '../support/grants.ts';
import { newAccount } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { callOperation, connectAgain, handlersOver, newTable, put, stored, testDeps } from '../support/service.ts';

const table = await newTable();

/** A client of the table, and the permissions that its calls so far required. @param act around them */
function recording(act: AroundCall = (_call, send) => send()) {
  const own = connectAgain(table);
  const used = new Set<string>();
  aroundCalls(own, (call, send) => {
    const action = call.command.replace(/Command$/, '');
    for (const permission of requiredPermissions(action, call.input)) used.add(permission);
    return act(call, send);
  });
  return { own, used };
}
/** Loses the reply to each update, so that the function looks whether it was applied. */
const losingUpdates: AroundCall = async ({ command }, send) => {
  await send();
  if (command.startsWith('Update')) throw connectionLost();
};

/** What a function may do, without what only the previous release does. */
const granted = (name: FunctionName) => {
  const { all, previous } = grantedTo(name);
  return all.difference(previous);
};

describe('what a function does with the table is what it may do, no more and no less', () => {
  it('browse-fleet', async () => {
    const tenant = await newFleet(table);
    // Statuses of hosts that are gone: there are so many that range reads do not reach all statuses, and some are read by their keys.
    await tenant.putHosts(
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [hostId(100 + 10 * index), inventory()])),
    );
    await tenant.putLive(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [hostId(index), live()])));
    const { own, used } = recording(losingUpdates);
    await callOperation(handlersOver(testDeps(own)), browseFleet, { appKey: tenant.appKey, body: {} });
    expect(used).toEqual(granted('browse-fleet'));
  });

  it('get-rum-resource', async () => {
    const tenant = await newAccount(table);
    await put(table, keys.rumResource(tenant.account), RUM_RECORD);
    const { own, used } = recording();
    const handlers = handlersOver(testDeps(own));
    for (let call = 0; call < 2; call += 1)
      await callOperation(handlers, getRumResource, { appKey: tenant.appKey, body: {} });
    expect(used).toEqual(granted('get-rum-resource'));
  });

  it('delete-work-item', async () => {
    const tenant = await newAccount(table);
    const { own, used } = recording(losingUpdates);
    await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
    const body = { work_item_id: 'w', version: 1 };
    await callOperation(handlersOver(testDeps(own)), deleteWorkItem, { appKey: tenant.appKey, body });
    expect(used).toEqual(granted('delete-work-item'));
  });

  it('merge-alerts', async () => {
    const tenant = await newAccount(table);
    await tenant.member(1);
    const [to, other] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(150);
    let act: AroundCall = (_call, send) => send();
    const { own, used } = recording((call, send) => act(call, send));
    const { mergeAlerts: handler } = handlersOver(testDeps(own));
    const merge = async (body: object, headers = {}) =>
      expectEnvelope(await tenant.merge(handler, body, { headers }), 200);
    await merge(
      { alert_ids: alerts.slice(0, 2), incident_id: to, owner_id: 1, title: 'New' },
      { 'Idempotency-Key': 'k' },
    );
    await merge({ alert_ids: alerts.slice(0, 3), incident_id: to }); // two stay
    const lost: string[] = [];
    // After the lost replies the handler reads the count and the feed to see whether they are written, and makes the pending moves.
    act = async ({ command }, send) => {
      await send();
      if (!/^(Update|TransactWrite)/.test(command) || lost.includes(command)) return;
      lost.push(command);
      throw connectionLost();
    };
    await merge({ alert_ids: alerts, incident_id: other });
    expect(lost).toEqual(['UpdateItemCommand', 'TransactWriteItemsCommand']);
    act = dyingAfterCommit(); // pending, for the next one to read
    await merge({ alert_ids: alerts, incident_id: to });
    act = (_call, send) => send();
    await merge({ alert_ids: alerts.slice(0, 1), incident_id: to });
    expect(used).toEqual(granted('merge-alerts'));
  });

  it('finish-merges', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(120);
    const dying = connectAgain(table);
    aroundCalls(dying, dyingAfterCommit());
    await tenant.merge(handlersOver(testDeps(dying)).mergeAlerts, { alert_ids: alerts, incident_id: to });
    const [entry] = await tenant.feed(to);
    expect(entry.pending).toBe(true);
    const { own, used } = recording();
    await finishFeed(own, [entry]);
    await createFinishMerges(testDeps(own))(OVERDUE, { getRemainingTimeInMillis: () => 60_000 });
    expect(used).toEqual(granted('finish-merges'));
  });

  it('relay', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alert_ids = await tenant.alerts(120);
    expectEnvelope(await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, { alert_ids, incident_id: to }), 200);
    const [{ sequence }] = await tenant.feed(to);
    const rows = [keys.feedEntry(tenant.account, to, sequence), keys.mergeOrder(tenant.account)];
    const records: DynamoDBRecord[] = [];
    for (const key of rows) {
      const NewImage = marshall(await stored(table, key)) as Record<string, AttributeValue>;
      records.push({ eventName: 'INSERT', dynamodb: { NewImage } });
    }
    const { own, used } = recording();
    expect((await relayed(own, records)).events.map(({ type }) => type)).toEqual(['AlertsMerged', 'MergeCompleted']);
    expect(used).toEqual(granted('relay'));
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
    const { own, used } = recording();
    const feed = feedOver(own, () => at_ms);
    await feed.send(
      newRecord('host', { host_id: 'h', retired: true }),
      newRecord('member', { member_id: 1, name: 'n' }),
      newRecord('work_item', { work_item_id: 'w', version: 1, title: 't' }),
      newRecord('incident', { incident_id, title: 't2', at_ms: at_ms - 1 }),
      newRecord('alert', { alert_id, title: 't2', at_ms: at_ms + 1 }),
      newRecord('rum_resource', RUM_RECORD),
    );
    expect(feed.refused).toEqual([]);
    expect(used).toEqual(grantedTo('ingest-records').all);
  });

  it('usage-key-authorizer', async () => {
    const tenant = await newAccount(table);
    const { own, used } = recording();
    const deps = testDeps(own);
    const authorize = createUsageKeyAuthorizer(createAppKeys(deps, { recordsUse: true }), deps, 'shared');
    const event = { methodArn: 'arn/stage/POST/x', queryStringParameters: { app_key: tenant.appKey } };
    expect(await authorize(event as unknown as Parameters<typeof authorize>[0])).toMatchObject({
      principalId: String(tenant.account),
    });
    expect(used).toEqual(granted('usage-key-authorizer'));
  });
});
