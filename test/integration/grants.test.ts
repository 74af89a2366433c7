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
import { connectionLost } from '../support/faults.ts';
import { feedOver } from '../support/feed.ts';
import { finishFeed } from '../support/finish.ts';
import { hostId, inventory, live, newFleet } from '../support/fleet.ts';
import { grantedTo, requiredPermissions } from '../support/grants.ts';
import { newAccount } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { callOperation, connectAgain, handlersOver, newTable, put, stored, testDeps } from '../support/service.ts';

const table = await newTable();

/** A client of the table, and the permissions that its calls so far required. */
function recording() {
  const own = connectAgain(table);
  const used = new Set<string>();
  let failing = (_action: string): void => undefined;
  let cut = false;
  let committed = false;
  own.client.middlewareStack.add(
    (next, context) => async (args) => {
      const action = (context.commandName ?? '')
        .replace(/Command$/, '')
        .replace(/^(Get|Put|Update|BatchGet)$/, '$1Item')
        .replace(/^TransactWrite$/, 'TransactWriteItems');
      if (cut && committed) throw connectionLost();
      for (const one of requiredPermissions(action, args.input)) used.add(one);
      const result = await next(args);
      committed ||= cut && action === 'TransactWriteItems';
      failing(action);
      return result;
    },
    { step: 'initialize', priority: 'high', name: 'record' },
  );
  return {
    own,
    used,
    /** `act` may throw after a call is done, by its action. */
    failAfter: (act: typeof failing) => {
      failing = act;
    },
    /** Whether every call after the next transaction fails. */
    cutAfterCommit(isCut: boolean) {
      [cut, committed] = [isCut, false];
    },
  };
}

/** What a function may do, without what only the previous release does. */
const granted = (name: FunctionName) => {
  const { all, previous } = grantedTo(name);
  return all.difference(previous);
};

describe('what a function does with the table is what it may do, no more and no less', () => {
  it('browse-fleet', async () => {
    const tenant = await newFleet(table);
    // Statuses of hosts that are gone fill what is read beside the inventory, and what may be read after it.
    await tenant.putHosts(
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [hostId(100 + 10 * index), inventory()])),
    );
    await tenant.putLive(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [hostId(index), live()])));
    const { own, used, failAfter } = recording();
    failAfter((command) => {
      if (command === 'UpdateItem') throw connectionLost(); // it looks at the count
    });
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
    const { own, used, failAfter } = recording();
    failAfter((command) => {
      if (command === 'UpdateItem') throw connectionLost(); // it looks at the item
    });
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
    const { own, used, failAfter, cutAfterCommit } = recording();
    const { mergeAlerts: handler } = handlersOver(testDeps(own));
    const headers = { 'Idempotency-Key': 'k' };
    const full = { alert_ids: alerts.slice(0, 2), incident_id: to, owner_id: 1, title: 'New' };
    expectEnvelope(await tenant.merge(handler, full, { headers }), 200);
    expectEnvelope(await tenant.merge(handler, { alert_ids: alerts.slice(0, 3), incident_id: to }), 200); // two stay
    const lost: string[] = [];
    failAfter((command) => {
      if (!/^(UpdateItem|TransactWriteItems)$/.test(command) || lost.includes(command)) return;
      lost.push(command);
      throw connectionLost(); // it looks at the count; it looks into the feed, and moves what is pending
    });
    expectEnvelope(await tenant.merge(handler, { alert_ids: alerts, incident_id: other }), 200);
    expect(lost).toEqual(['UpdateItem', 'TransactWriteItems']);
    failAfter(() => undefined);
    cutAfterCommit(true); // pending, for the next one to read
    expectEnvelope(await tenant.merge(handler, { alert_ids: alerts, incident_id: to }), 200);
    cutAfterCommit(false);
    expectEnvelope(await tenant.merge(handler, { alert_ids: alerts.slice(0, 1), incident_id: to }), 200);
    expect(used).toEqual(granted('merge-alerts'));
  });

  it('finish-merges', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(120);
    const dying = recording();
    dying.cutAfterCommit(true);
    await tenant.merge(handlersOver(testDeps(dying.own)).mergeAlerts, { alert_ids: alerts, incident_id: to });
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
    const of = (kind: string, fields: object) => ({ kind, account_id: tenant.account, at_ms, ...fields });
    const [incident_id, alert_id] = ['1'.repeat(24), '2'.repeat(24)];
    await feedOver(table, () => at_ms).send(
      of('incident', { incident_id, title: 't', at_ms: at_ms - 2 }),
      of('alert', { alert_id, title: 't' }),
    );
    const { mergeAlerts: handler } = handlersOver(testDeps(table, { now: () => at_ms }));
    expectEnvelope(await tenant.merge(handler, { alert_ids: [alert_id], incident_id, title: 'merged' }), 200);
    const { own, used } = recording();
    const feed = feedOver(own, () => at_ms);
    await feed.send(
      of('host', { host_id: 'h', retired: true }),
      of('member', { member_id: 1, name: 'n' }),
      of('work_item', { work_item_id: 'w', version: 1, title: 't' }),
      of('incident', { incident_id, title: 't2', at_ms: at_ms - 1 }),
      of('alert', { alert_id, title: 't2', at_ms: at_ms + 1 }),
      of('rum_resource', RUM_RECORD),
    );
    expect(feed.refused).toEqual([]);
    expect(used).toEqual(grantedTo('ingest-records').all);
  });

  it('usage-key-authorizer', async () => {
    const tenant = await newAccount(table);
    const { own, used } = recording();
    const deps = testDeps(own);
    const label = createUsageKeyAuthorizer(createAppKeys(deps, { recordsUse: true }), deps, 'shared');
    const event = { methodArn: 'arn/stage/POST/x', queryStringParameters: { app_key: tenant.appKey } };
    expect(await label(event as unknown as Parameters<typeof label>[0])).toMatchObject({
      principalId: String(tenant.account),
    });
    expect(used).toEqual(granted('usage-key-authorizer'));
  });
});
