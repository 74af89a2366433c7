/** Each operation on DynamoDB Local against the calls to DynamoDB that it needs, written by hand, turn about. */
import { randomBytes } from 'node:crypto';
import {
  BatchGetCommand,
  BatchWriteCommand,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { collections, type Key, keys } from '../../../lib/dynamodb/keys.ts';
import { browseFleet, deleteWorkItem, getRumResource, mergeAlerts } from '../../../lib/http/operations.ts';
import { HOST_ATTRIBUTES, STATUS_ATTRIBUTES } from '../../../lib/operations/browse-fleet/fleet-rows.ts';
import { RUM_RECORD } from '../../../test/support/rum.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { type Task, type Turns, takeTurns } from '../compare.ts';
import { accountLines, fleetLines } from '../fleet-data.ts';
import type { NewFigure } from '../report.ts';

const ACCOUNT = 1;
/** Of rows that only the calls by hand touch. */
const OTHER = 2;
const KEY = 'bench-key-of-end-to-end-000000000';
const SMALL = { rounds: 30, calls: 20 };
/** More of what is quick, which steadies the 99th percentile. */
const QUICK = { rounds: 30, calls: 100 };
const QUICKEST = { rounds: 60, calls: 100 };
const LARGE = { rounds: 6, calls: 1 };
const objectId = () => randomBytes(12).toString('hex');

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const service = await startBenchService([...accountLines(ACCOUNT, KEY), ...fleetLines(ACCOUNT, 200, Date.now())]);
  const compare = async (what: string, turns: Turns, ours: Task, bare: Task, most: { p50: number; p99?: number }) => {
    const times = await takeTurns({ ours, bare }, turns);
    for (const quantile of ['p50', 'p99'] as const)
      if (most[quantile] !== undefined)
        add({
          name: `${what}: ${quantile}`,
          value: times.ours[quantile],
          unit: 'ms',
          baseline: { name: 'the DynamoDB calls by hand', value: times.bare[quantile] },
          target: { most: most[quantile] },
        });
  };
  try {
    const most = { p50: 1.15, p99: 1.5 };
    await compare('browse, page of 50', QUICK, browse(service), bareBrowse(service), most);
    await compare('read the RUM resource', QUICKEST, await readRum(service), bareRum(service), most);
    await compare('delete a work item', QUICK, await remove(service), await bareRemove(service), most);
    await compare('merge 10 alerts', SMALL, await merge(service, 10, 700), await bareMerge(service, 10, 700), most);
    await compare('merge 1,000 alerts', LARGE, await merge(service, 1_000, 20), await bareMerge(service, 1_000, 20), {
      p50: 1.4,
    });
  } finally {
    await service.stop();
  }
}

async function fill({ table }: BenchService, rows: (Key & Record<string, unknown>)[]): Promise<void> {
  for (let index = 0; index < rows.length; index += 25)
    await table.client.send(
      new BatchWriteCommand({
        RequestItems: { [table.name]: rows.slice(index, index + 25).map((Item) => ({ PutRequest: { Item } })) },
      }),
    );
}

function browse(service: BenchService): Task {
  return () => {
    service.stepClock(3_000);
    return service.call(browseFleet, KEY, {});
  };
}

function bareBrowse({ byHand: client, table: { name } }: BenchService): Task {
  let minute = 0;
  const query = (pk: string, attributes: string[]) =>
    client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ProjectionExpression: ['sk', ...attributes.map((_one, index) => `#${index}`)].join(', '),
        ExpressionAttributeNames: Object.fromEntries(attributes.map((one, index) => [`#${index}`, one])),
        Limit: 51,
      }),
    );
  return async () => {
    minute += 1;
    const nonce = randomBytes(4).toString('hex');
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.rateCount(OTHER, 'bare', Math.floor(minute / 20)),
        UpdateExpression: 'ADD #total :one, #inner :one, #nonces :nonces SET #ttl = :ttl',
        ConditionExpression: '(attribute_not_exists(#total) OR #total < :most) AND NOT contains(#nonces, :nonce)',
        ExpressionAttributeNames: {
          '#total': 'total',
          '#inner': `w${minute % 20}`,
          '#nonces': 'nonces',
          '#ttl': 'ttl',
        },
        ExpressionAttributeValues: {
          ':one': 1,
          ':most': 1_000,
          ':nonce': nonce,
          ':nonces': new Set([nonce]),
          ':ttl': 4_000_000_000,
        },
        ReturnValues: 'ALL_NEW',
      }),
    );
    await Promise.all([
      query(collections.hosts(ACCOUNT), HOST_ATTRIBUTES),
      query(collections.hostStatuses(ACCOUNT), STATUS_ATTRIBUTES),
    ]);
  };
}

async function readRum(service: BenchService): Promise<Task> {
  await fill(service, [
    { ...keys.rumResource(ACCOUNT), ...RUM_RECORD },
    { ...keys.rumUsage(ACCOUNT), session_limit_reached: false, 'session_measure.used_cnt': 7 },
  ]);
  return () => service.call(getRumResource, KEY, {});
}

const bareRum =
  ({ byHand: client, table: { name } }: BenchService): Task =>
  () =>
    client.send(new GetCommand({ TableName: name, Key: keys.rumUsage(ACCOUNT), ConsistentRead: true }));

const items = (account: number) =>
  Array.from({ length: 3_200 }, (_, index) => ({
    ...keys.workItem(account, `w${index}`),
    work_item_id: `w${index}`,
    version: 1,
    title: 'Raise the timeout',
  }));

async function remove(service: BenchService): Promise<Task> {
  await fill(service, items(ACCOUNT));
  let index = 0;
  return () => service.call(deleteWorkItem, KEY, { work_item_id: `w${index++}`, version: 1 });
}

async function bareRemove(service: BenchService): Promise<Task> {
  await fill(service, items(OTHER));
  const {
    byHand: client,
    table: { name },
  } = service;
  let index = 0;
  return () =>
    client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.workItem(OTHER, `w${index++}`),
        UpdateExpression: 'SET deleted_at_ms = :now, deleted_by = :by, #version = #version + :one',
        ConditionExpression: '#version = :version AND attribute_not_exists(deleted_at_ms)',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':now': Date.now(), ':by': 'key', ':one': 1, ':version': 1 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
}

/** Alerts for so many merges, and an incident that takes them. */
async function alertsOf(service: BenchService, account: number, count: number, merges: number) {
  const incident = objectId();
  const alerts = Array.from({ length: count * merges }, objectId);
  await fill(service, [
    { ...keys.incident(account, incident), incident_id: incident, title: 'Checkout is down' },
    ...alerts.map((id) => ({ ...keys.alert(account, id), alert_id: id, title: 'p99 above threshold' })),
  ]);
  let index = 0;
  const next = () => {
    index += count;
    return alerts.slice(index - count, index);
  };
  return { incident, next };
}

async function merge(service: BenchService, count: number, merges: number): Promise<Task> {
  const { incident, next } = await alertsOf(service, ACCOUNT, count, merges);
  return () => {
    service.stepClock(10);
    return service.call(mergeAlerts, KEY, { alert_ids: next(), incident_id: incident });
  };
}

/** Reads and writes of a merge without its order and its way back from a crash: the entry, and each alert. */
async function bareMerge(service: BenchService, count: number, merges: number): Promise<Task> {
  const { incident, next } = await alertsOf(service, OTHER, count, merges);
  const {
    byHand: client,
    table: { name },
  } = service;
  let sequence = 0;
  const get = (all: Key[]) =>
    client.send(new BatchGetCommand({ RequestItems: { [name]: { Keys: all, ConsistentRead: true } } }));
  const move = (id: string) => ({
    TableName: name,
    Key: keys.alert(OTHER, id),
    UpdateExpression: 'SET incident_id = :to, moved_sequence = :sequence',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':to': incident, ':sequence': sequence },
  });
  return async () => {
    sequence += 1;
    const ids = next();
    const alertKeys = ids.map((id) => keys.alert(OTHER, id));
    await get([keys.incident(OTHER, incident), ...alertKeys.slice(0, 99)]);
    for (let index = 99; index < ids.length; index += 400)
      await Promise.all(
        [0, 100, 200, 300]
          .map((more) => alertKeys.slice(index + more, index + more + 100))
          .filter((some) => some.length > 0)
          .map(get),
      );
    const entry = {
      Put: {
        TableName: name,
        Item: { ...keys.feedEntry(OTHER, incident, sequence), kind: 'merge', moved: { none: ids }, stayed: [] },
      },
    };
    const check = {
      ConditionCheck: {
        TableName: name,
        Key: keys.incident(OTHER, incident),
        ConditionExpression: 'attribute_exists(pk)',
      },
    };
    const small = ids.length < 90;
    await client.send(
      new TransactWriteCommand({
        TransactItems: [entry, check, ...(small ? ids.map((id) => ({ Update: move(id) })) : [])],
      }),
    );
    if (small) return;
    const left = ids.values();
    const worker = async () => {
      for (const id of left) await client.send(new UpdateCommand(move(id)));
    };
    await Promise.all(Array.from({ length: 32 }, worker));
  };
}
