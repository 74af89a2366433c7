/** The table in memory answers the service's requests, and variations of them, as DynamoDB Local does. */
import * as commands from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { writeRow } from '../../lib/ingest/write-records.ts';
import { INGEST_KINDS } from '../../lib/model/kinds.ts';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { type Key, parseKey } from '../../lib/table/keys.ts';
import { changeAccount, listAccounts, listAppKeys, readAccount } from '../../packages/admin/accounts/accounts.ts';
import { identityOfAppKey, revokeAppKey, rotateAppKey } from '../../packages/admin/accounts/app-key-admin.ts';
import { checkAccount } from '../../packages/admin/check/check.ts';
import { repair } from '../../packages/admin/check/repair.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { listIncidents, listMerges } from '../../packages/admin/incidents/list.ts';
import { readWorkItem, restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { DEMO_KEYS, sampleData } from '../../packages/local/sample.ts';
import { SEED, seededRandom } from '../support/chance.ts';
import { newAccount } from '../support/incidents.ts';
import { recordFrom } from '../support/ingest.ts';
import { callAlone, createHandlers, newTable, testDeps } from '../support/service.ts';
import { connectDouble, type Request } from '../table-double/client.ts';
import { TableDouble } from '../table-double/table-double.ts';
import { canonical, type Item, isMap, typeOf, type Value } from '../table-double/values.ts';
import { mergesOf } from './merge-alerts/merging.ts';

const VARIATIONS = { ci: 5_000, full: 100_000 }[process.env.FAULTS ?? ''] ?? 300;

// biome-ignore lint/suspicious/noExplicitAny: the inputs and replies of all commands
type Unchecked = any;

/** A table in memory and one of DynamoDB Local, which get the same requests, one at a time. */
async function newPair() {
  const real = await newTable();
  const double = new TableDouble();
  const requests: Request[] = [];
  async function compare(request: Request): Promise<unknown> {
    const Command = (commands as Unchecked)[request.name];
    const [actual, expected] = [
      await outcomeOf(async () => double.apply(request)),
      await outcomeOf(() => real.client.send(new Command(request.input))),
    ];
    expect({ request, ...actual.visible }).toEqual({ request, ...expected.visible });
    return actual.end();
  }
  let last: Promise<unknown> = Promise.resolve();
  const table = connectDouble((request) => {
    // DynamoDB does not say in which segment of a scan a row is.
    if (request.name === 'ScanCommand') return Promise.resolve(double.apply(request));
    requests.push(request);
    const next = () => compare(request);
    last = last.then(next, next);
    return last;
  }, real.name);
  return { real, double, table, requests, compare };
}

/** What the service may read of a reply or an error, and how the call ends. */
async function outcomeOf(reply: () => Promise<Unchecked>): Promise<{ visible: object; end: () => unknown }> {
  try {
    const answer = await reply();
    const { Item, Items, Responses, Attributes, LastEvaluatedKey } = answer;
    const rows = Responses && (Object.values(Responses)[0] as Item[]).map(canonical).sort();
    return { visible: { Item, Items, rows, Attributes, LastEvaluatedKey }, end: () => answer };
  } catch (error) {
    const { name, Item, CancellationReasons } = error as Unchecked;
    if (!/Exception$/.test(name)) throw error;
    const reasons = CancellationReasons?.map((reason: Unchecked) => [
      reason.Code,
      reason.Item && unmarshall(reason.Item),
    ]);
    const end = () => Promise.reject(error);
    return { visible: { error: name, Item: Item && unmarshall(Item), reasons }, end };
  }
}

/** Makes requests of all kinds: those of the operations, of the feed, and of operators. */
async function useEverything(table: Table, double: TableDouble): Promise<void> {
  const now = Date.now();
  const sample = sampleData(now).map((line) => JSON.parse(line));
  const lines = [...Map.groupBy(sample, ({ kind }) => kind).values()].flatMap((ofKind) => ofKind.slice(0, 6));
  const texts = lines.map((line) => JSON.stringify(line));
  const load = () => loadData(table, 'data', texts, { nowMs: Date.now() });
  await load();
  const alert = { kind: 'alert', account_id: 1, alert_key: 'k', title: 't', labels: { constructor: 'x' } };
  for (const [index, alert_status] of ['Info', 'Critical', 'Ok', 'Ok', 'Info'].entries())
    await writeRow(table, [recordFrom({ ...alert, alert_status, at_ms: now + index })]);
  for (const line of lines.filter(({ kind, key_order }) => INGEST_KINDS.includes(kind) && !key_order))
    for (const [index, retired] of [false, false, line.kind === 'host', false].entries())
      await writeRow(table, [recordFrom({ ...line, at_ms: now + (index % 3), ...(retired && { retired }) })]);
  await load();

  const deps = testDeps(table);
  const handlers = createHandlers(deps);
  for (const body of [{}, { limit: 1 }, {}]) await callAlone(handlers, browseFleet, { appKey: DEMO_KEYS.demo, body });

  const tenant = await newAccount(table);
  const { account } = tenant;
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  await tenant.member(7);
  const alerts = await tenant.alerts(6, from);
  const { merge, undo, entries } = mergesOf(table, tenant, [from, to]);
  const [changes, once] = [
    { title: 'New', owner_id: 7 },
    { key: 'k', limits: {} },
  ];
  await merge({ alert_ids: alerts.slice(0, 1), incident_id: to });
  for (const _ of [1, 2]) await merge({ alert_ids: alerts.slice(0, 2), incident_id: to, ...changes }, once);
  await merge({ alert_ids: alerts, incident_id: to, ...changes });
  for (const { entry } of (await entries()).slice(0, 2)) await undo({ incidentId: to, sequence: entry.sequence });
  for (const listed of [listIncidents(table, account), listMerges(table, account, 1)]) await listed;
  // A row of each kind is lost, as a restore may lose it.
  const own = double.items().filter((row) => String(row.pk).includes(String(account)));
  for (const [lost] of Map.groupBy(own, ({ pk, sk }) => parseKey({ pk, sk } as Key)?.kind).values()) {
    await table.client.send(new commands.DeleteCommand({ TableName: table.name, Key: { pk: lost?.pk, sk: lost?.sk } }));
    await repair(table, await checkAccount(table, account));
  }

  const item = lines.find(({ kind, deleted_at_ms }) => kind === 'work_item' && deleted_at_ms === undefined);
  const body = { work_item_id: item.work_item_id, version: item.version };
  for (const _ of [1, 2]) await callAlone(handlers, deleteWorkItem, { appKey: DEMO_KEYS.demo, body });
  const deleted = await readWorkItem(table, 1, item.work_item_id);
  if (deleted) expect(await restoreWorkItem(table, 1, deleted)).toBe(true);
  await changeAccount(table, 1, () => ({ permissions: [] }));
  const row = await readAccount(table, 1);
  expect(await listAccounts(table)).toContain(1);
  if (!row) return;
  const [first] = await listAppKeys(table, row);
  const hash = [...(row.app_keys ?? [])][0] as string;
  expect(first).toBeDefined();
  const replacement = { identity: identityOfAppKey('new'.padEnd(32)), details: { created_at: 1 } };
  await rotateAppKey(table, row, { hash }, replacement, 5);
  await revokeAppKey(table, 1, hash, 1);
}

/** Replaces some keys and values in a request by those of others. */
function varied({ name, input }: Request, known: { keys: Item[]; values: Value[] }, random: () => number): Request {
  const pick = <Member>(all: readonly Member[]): Member => all[Math.floor(random() * all.length)] as Member;
  const ofType = (value: Value) =>
    random() < 0.7 ? value : (pick(known.values.filter((other) => typeOf(other) === typeOf(value))) ?? value);
  const vary = (value: Unchecked): Unchecked => {
    if (Array.isArray(value)) return value.map(vary);
    return isMap(value) ? Object.fromEntries(Object.entries(value).map(varyMember)) : value;
  };
  const varyMember = ([key, member]: [string, Unchecked]): [string, Unchecked] => {
    if (key === 'Key' && name !== 'TransactWriteCommand' && random() < 0.3) return [key, pick(known.keys)];
    if (key !== 'ExpressionAttributeValues') return [key, key === 'Item' ? member : vary(member)];
    return [key, Object.fromEntries(Object.entries(member as Item).map(([of, value]) => [of, ofType(value)]))];
  };
  return { name, input: { ...vary(input), ...(input.ClientRequestToken && { ClientRequestToken: String(random()) }) } };
}

it(`answers as DynamoDB Local does (${VARIATIONS} variations, SEED=${SEED})`, { timeout: 20 * 60_000 }, async () => {
  const { real, double, table, requests, compare } = await newPair();
  await useEverything(table, double);
  const random = seededRandom(SEED);
  const values = requests.flatMap(({ input }) => Object.values((input.ExpressionAttributeValues ?? {}) as Item));
  const known = { keys: double.items().map(({ pk, sk }) => ({ pk, sk }) as Item), values };
  const kinds = [
    ...Map.groupBy(requests, ({ name, input }) =>
      [name, input.UpdateExpression, input.ConditionExpression, input.TransactItems?.length].join(),
    ).values(),
  ];
  for (let index = 0; index < VARIATIONS; index += 1) {
    const kind = kinds[Math.floor(random() * kinds.length)] as Request[];
    const request = varied(kind[Math.floor(random() * kind.length)] as Request, known, random);
    await compare(request).catch((error) => {
      if (!/Exception$/.test(error.name)) throw error;
    });
  }
  const rows: string[] = [];
  for await (const { Items = [] } of commands.paginateScan({ client: real.client }, { TableName: real.name }))
    rows.push(...Items.map(canonical));
  expect(double.items().map(canonical).sort()).toEqual(rows.sort());
});
