/** What each function does with the table is what `infra/grants.ts` lets it do, no more and no less. */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { type FunctionName, GRANTS } from '../../../infra/grants.ts';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { createEndSilentAlerts } from '../../../lib/ingest/silent-alerts.ts';
import { writeRow } from '../../../lib/ingest/write-records.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { getAlert } from '../../../lib/operations/get-alert/schema.ts';
import { type ListedOperation, operations } from '../../../lib/operations/index.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { listIncidents } from '../../../lib/operations/list-incidents/schema.ts';
import { createFinishMerges, OVERDUE } from '../../../lib/operations/merge-alerts/finish.ts';
import type { Table } from '../../../lib/table/client.ts';
import { LEADING_KEYS } from '../../../lib/table/grant.ts';
import { type Key, keys, parseKey } from '../../../lib/table/keys.ts';
import { loadData } from '../../../packages/admin/data/load.ts';
import { DEMO_KEYS, sampleData } from '../../../packages/local/sample.ts';
import { RUM_RECORD, RUM_USAGE } from '../../support/accounts.ts';
import { relayed } from '../../support/events.ts';
import { connectionLost } from '../../support/faults.ts';
import { hostId, inventory, live, newFleet } from '../../support/fleet.ts';
import { createHandlers } from '../../support/handlers.ts';
import { type Account, finishEntries, newAccount } from '../../support/incidents.ts';
import { ingestOver, recordFrom } from '../../support/ingest.ts';
import { callAlone, stored, testDeps } from '../../support/service.ts';
import { connectDouble, partitionPlaceholder, type Request } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';

const NOW = 1_795_000_000_000;
/** So that a merge is large. */
const LARGE = 60;
const LIMITS = { transactionItems: 50 };

/** The permissions that a request requires, such as `GetItem on appKey`. */
function requiredBy({ name, input }: Request): string[] {
  const permission = (verb: string, key: Key) => `${verb}Item on ${parseKey(key)?.kind}`;
  const verb = name.replace('Command', '');
  if (verb === 'Query') {
    const pk = input.ExpressionAttributeValues[partitionPlaceholder(input)];
    const kinds = Object.entries(LEADING_KEYS).filter(([, pattern]) => matches(pattern, pk));
    return kinds.map(([kind]) => `Query on ${kind}`);
  }
  if (verb === 'TransactWrite')
    return (input.TransactItems as Request['input'][]).flatMap((action) =>
      Object.entries<Request['input']>(action).map(([verb, { Key, Item }]) => permission(verb, Key ?? Item)),
    );
  const asked: Key[] = input.RequestItems?.double.Keys ?? [input.Key ?? input.Item];
  return asked.map((key) => permission(verb, key));
}

const matches = (pattern: string, pk: string) => RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(pk);

/** Runs around a request. */
type Around = (request: Request, send: () => unknown) => unknown;

/** A table in memory, and clients of it that record what they do. */
function newTable() {
  const double = new TableDouble();
  const connect = (around: Around = (_request, send) => send()) => {
    const done = { required: new Set<string>(), mayBeStale: false };
    const table = connectDouble(async (request) => {
      const { name, input } = request;
      for (const permission of requiredBy(request)) done.required.add(permission);
      if (/^(Get|BatchGet|Query)/.test(name)) done.mayBeStale ||= !(input.RequestItems?.double ?? input).ConsistentRead;
      return around(request, () => double.apply(request));
    });
    return { table, done };
  };
  return { table: connectDouble(async (request) => double.apply(request)), connect };
}

/** Loses the reply to the first request of each of these names, so that the function reads whether it was applied. */
function losing(...names: string[]): Around {
  return async ({ name }, send) => {
    const reply = await send();
    if (!names.includes(name)) return reply;
    names.splice(names.indexOf(name), 1);
    throw connectionLost();
  };
}

/** Merges an alert into another incident after a large merge has read it, so that the large one must correct its origins. */
function overtaking(table: Table, tenant: Account, alertId: string | undefined): Around {
  let isDone = false;
  return async ({ name }, send) => {
    if (name === 'TransactWriteCommand' && !isDone) {
      isDone = true;
      const body = { alert_ids: [alertId], incident_id: await tenant.incident() };
      await tenant.merge(createHandlers(testDeps(table)).mergeAlerts, body);
    }
    return send();
  };
}

/** An account with an open alert that has a key and is in an incident. */
async function newKeyedAlert(table: Table) {
  const tenant = await newAccount(table);
  const incident_id = await tenant.incident();
  const line = { kind: 'alert', account_id: tenant.account, alert_key: 'k', title: 't', incident_id };
  await writeRow(table, [recordFrom(line)]);
  const { alert_id } = await stored(table, keys.alertKey(tenant.account, 'k'));
  return { ...tenant, alert_id };
}

/** An account with a large merge whose function died after the commit. @returns its entry, too */
async function newPendingMerge() {
  const { table, connect } = newTable();
  const tenant = await newAccount(table);
  const [incident_id, alert_ids] = [await tenant.incident(), await tenant.alerts(LARGE)];
  const overtake = overtaking(table, tenant, alert_ids[0]);
  let isDead = false;
  const { table: dying } = connect(async (request, send) => {
    if (isDead) throw connectionLost();
    const reply = await overtake(request, send);
    isDead ||= request.name === 'TransactWriteCommand';
    return reply;
  });
  await tenant.merge(createHandlers(testDeps(dying), LIMITS).mergeAlerts, { alert_ids, incident_id });
  const [entry] = await tenant.history(incident_id);
  expect(entry.pending).toBe(true);
  return { table, connect, tenant, entry };
}

interface Done {
  required: Set<string>;
  mayBeStale: boolean;
}

/** Makes the call of an operation's example twice, on the sample data. The reply to its first write is lost. */
async function makeExampleCalls(operation: ListedOperation): Promise<Done> {
  const { table, connect } = newTable();
  await loadData(table, 'sample', sampleData(NOW), { nowMs: NOW });
  const { table: recorded, done } = connect(losing('UpdateCommand', 'PutCommand', 'TransactWriteCommand'));
  const handlers = createHandlers(testDeps(recorded, { now: () => NOW }));
  const call = { appKey: DEMO_KEYS.demo, body: operation.example.request };
  for (let count = 0; count < 2; count += 1)
    expect((await callAlone(handlers, operation, call)).status, `${operation.name}: the call of its example`).toBe(200);
  return done;
}

/** What functions do besides the calls of an example: an operation needs one only if its example leaves out a granted action. */
const SCENARIOS: Partial<Record<FunctionName, () => Promise<Done>>> = {
  async 'browse-fleet'() {
    const { table, connect } = newTable();
    const tenant = await newFleet(table);
    // Statuses of hosts that are gone: there are so many that range reads do not reach all statuses, and some are read by their keys.
    const hosts = Array.from({ length: 20 }, (_, index) => [hostId(100 + 10 * index), inventory()] as const);
    await tenant.putHosts(Object.fromEntries(hosts));
    await tenant.putLive(
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [hostId(index), live()] as const)),
    );
    const { table: recorded, done } = connect(losing('UpdateCommand'));
    await callAlone(createHandlers(testDeps(recorded)), browseFleet, { appKey: tenant.appKey, body: {} });
    return done;
  },
  async 'list-alerts'() {
    const { table, connect } = newTable();
    const { appKey, alert_id } = await newKeyedAlert(table);
    const { table: recorded, done } = connect();
    const handlers = createHandlers(testDeps(recorded));
    for (const body of [{}, { alert_keys: ['k'], alert_ids: [alert_id] }])
      expect((await callAlone(handlers, listAlerts, { appKey, body })).body.data.items).toHaveLength(1);
    return done;
  },
  async 'list-incidents'() {
    const { table, connect } = newTable();
    const { appKey, incident, member } = await newAccount(table);
    await member(1);
    const incident_ids = [await incident({ owner_id: 1 })];
    const { table: recorded, done } = connect();
    for (const body of [{}, { incident_ids }])
      await callAlone(createHandlers(testDeps(recorded)), listIncidents, { appKey, body });
    return done;
  },
  async 'get-alert'() {
    const { table, connect } = newTable();
    const { appKey, alert_id } = await newKeyedAlert(table);
    const { table: recorded, done } = connect();
    await callAlone(createHandlers(testDeps(recorded)), getAlert, { appKey, body: { alert_id } });
    return done;
  },
  async 'merge-alerts'() {
    const { table, connect, tenant } = await newPendingMerge();
    await tenant.member(1);
    const [to, elsewhere, alerts] = [await tenant.incident(), await tenant.incident(), await tenant.alerts(LARGE)];
    let around: Around = (_request, send) => send();
    const { table: recorded, done } = connect((request, send) => around(request, send));
    const merge = async (body: object, headers = {}) => {
      const { mergeAlerts } = createHandlers(testDeps(recorded), LIMITS);
      expect((await tenant.merge(mergeAlerts, body, { headers })).status).toBe(200);
    };
    const withAllFields = { alert_ids: alerts.slice(0, 2), incident_id: to, owner_id: 1, title: 'New' };
    await merge(withAllFields, { 'Idempotency-Key': 'k' });
    await merge({ alert_ids: alerts.slice(0, 3), incident_id: to }); // two are already there
    // After the lost replies it reads the count and the history to see whether they are written, and makes the pending moves.
    const [lose, overtake] = [losing('UpdateCommand', 'TransactWriteCommand'), overtaking(table, tenant, alerts[0])];
    around = (request, send) => lose(request, () => overtake(request, send));
    await merge({ alert_ids: alerts, incident_id: elsewhere });
    return done;
  },
  async 'finish-merges'() {
    const { connect, entry } = await newPendingMerge();
    const { table: recorded, done } = connect();
    await finishEntries(recorded, [entry], LIMITS);
    await createFinishMerges(testDeps(recorded))(OVERDUE, { getRemainingTimeInMillis: () => 60_000 });
    return done;
  },
  async relay() {
    const { table, connect, tenant, entry } = await newPendingMerge();
    await finishEntries(table, [entry], LIMITS);
    const rows = [{ pk: entry.pk, sk: entry.sk }, keys.logHead(tenant.account)];
    const images = await Promise.all(rows.map(async (key) => marshall(await stored(table, key))));
    const records = images.map((NewImage) => ({ eventName: 'INSERT', dynamodb: { NewImage } }) as DynamoDBRecord);
    const { table: recorded, done } = connect();
    expect((await relayed(recorded, records)).events).toHaveLength(2);
    return done;
  },
  async 'ingest-records'() {
    const { table, connect } = newTable();
    const { account } = await newAccount(table);
    const record = (kind: string, fields: object) => ({ kind, account_id: account, at_ms: NOW, ...fields });
    const { table: recorded, done } = connect();
    const ingest = ingestOver(recorded, () => NOW);
    await ingest.send(
      record('host', { host_id: 'h', retired: true }),
      record('host', { host_id: 'i', ...inventory() }),
      record('host_status', { host_id: 'i', node_count: 1 }),
      record('member', { member_id: 1, name: 'n' }),
      record('work_item', { work_item_id: 'w', version: 1, title: 't' }),
      record('incident', { incident_id: '1'.repeat(24), title: 't' }),
      record('alert', { alert_id: '2'.repeat(24), title: 't' }),
      record('alert', { alert_key: 'k', title: 't' }),
      record('rum_resource', RUM_RECORD),
      record('rum_usage', RUM_USAGE),
    );
    await ingest.send({ ...record('alert', { alert_key: 'k', title: 't', alert_status: 'Ok' }), at_ms: NOW + 1 });
    expect(ingest.refused).toEqual([]);
    return done;
  },
  async 'end-silent-alerts'() {
    const { table, connect } = newTable();
    const { account } = await newAccount(table);
    const line = { kind: 'alert', account_id: account, alert_key: 'k', title: 't', silent_after_s: 60 };
    await writeRow(table, [recordFrom({ ...line, at_ms: NOW }, NOW)]);
    const { table: recorded, done } = connect();
    const deps = testDeps(recorded, { now: () => NOW + 60_000 });
    await createEndSilentAlerts(deps, async () => 0)({}, { getRemainingTimeInMillis: () => 60_000 });
    expect(deps.log.lines).toMatchObject([{ fields: { alerts: 1 } }]);
    return done;
  },
  async 'usage-key-authorizer'() {
    const { table, connect } = newTable();
    const { account, appKey: app_key } = await newAccount(table);
    const { table: recorded, done } = connect();
    const deps = testDeps(recorded);
    const authorize = createUsageKeyAuthorizer(createAppKeys(deps, { recordsUse: true }), deps, 'shared');
    const event = { methodArn: 'arn/stage/POST/x', queryStringParameters: { app_key } };
    expect(await authorize(event as never)).toMatchObject({ principalId: String(account) });
    return done;
  },
};

const named = new Map<string, ListedOperation>(operations.map((operation) => [operation.name, operation]));
/** Functions that may use the table. */
const NAMES = (Object.keys(GRANTS) as FunctionName[]).filter((name) => GRANTS[name].length > 0);

it.each(NAMES)('%s', async (name) => {
  const granted = GRANTS[name].flatMap(({ actions, on }) =>
    actions.flatMap((action) => on.map((kind) => `${action} on ${kind}`)),
  );
  const operation = named.get(name);
  const run = SCENARIOS[name] ?? (operation && (() => makeExampleCalls(operation)));
  const { required, mayBeStale } = (await run?.()) ?? expect.fail(`${name} has no scenario`);
  expect([...required].sort(), `${name}: what it did, and its grants`).toEqual(granted.sort());
  // Only pages of lists may be stale, and what a write then has as its condition: all others read strongly consistently.
  const stale = ['browse-fleet', 'list-alerts', 'list-incidents', 'list-members', 'end-silent-alerts'];
  expect(mayBeStale).toBe(stale.includes(name));
});
