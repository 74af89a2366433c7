/** Fleet browse: what reading costs the processor, how long a page takes, and whether that grows with the fleet. */
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { connectTable, type Table } from '../../../lib/dynamodb/client.ts';
import { collections, keys } from '../../../lib/dynamodb/keys.ts';
import { browseFleet } from '../../../lib/http/operations.ts';
import { sealCursor } from '../../../lib/operations/browse-fleet/fleet-request.ts';
import { createHostReader } from '../../../lib/operations/browse-fleet/read-hosts.ts';
import { readAccount } from '../../admin/accounts/accounts.ts';
import { runAdmin } from '../../admin/cli/program.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { cpuClock, takeTurns } from '../compare.ts';
import { accountLines, fleetLines, hostFields, hostName, statusFields } from '../fleet-data.ts';
import type { NewFigure } from '../report.ts';

type Add = (figure: NewFigure) => void;

const REFERENCE = { account: 1, appKey: 'bench-key-of-the-reference-000000' };
const SMALL = { account: 2, appKey: 'bench-key-of-the-small-fleet-00000', hosts: 1_000 };
const LARGE = { account: 3, appKey: 'bench-key-of-the-large-fleet-00000', hosts: 50_000 };
const CANNED_HOSTS = 2_000;
const never = new AbortController().signal;
const fail = (error: unknown) => {
  throw error;
};
const reading = { signal: never, onUnreadable: fail };

export async function run(add: Add): Promise<void> {
  await measureCpu(add);
  const service = await startBenchService([
    ...[REFERENCE, SMALL, LARGE].flatMap(({ account, appKey }) => accountLines(account, appKey)),
    ...fleetLines(REFERENCE.account, 2_100, Date.now()),
  ]);
  try {
    await measureTime(service, add);
    for (const { account, hosts } of [SMALL, LARGE]) await simulate(service, account, hosts);
    await measureFlatness(service, add);
  } finally {
    await service.stop();
  }
}

/** The CPU time of reading and joining 2,000 + 2,000 rows from replies that are there already. */
async function measureCpu(add: Add): Promise<void> {
  const wire = (fields: object) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        typeof value === 'number'
          ? { N: String(value) }
          : typeof value === 'boolean'
            ? { BOOL: value }
            : Array.isArray(value)
              ? { L: value.map((one) => ({ S: one })) }
              : { S: value },
      ]),
    );
  const reply = (fields: () => object) => {
    const Items = Array.from({ length: CANNED_HOSTS }, (_, index) => ({
      sk: { S: hostName(index) },
      ...wire(fields()),
    }));
    return Buffer.from(JSON.stringify({ Count: CANNED_HOSTS, ScannedCount: CANNED_HOSTS, Items }));
  };
  const [hosts, statuses] = [reply(hostFields), reply(() => statusFields(Date.now()))];
  const canned = (): Table => {
    const table = connectTable({ name: 'canned', endpoint: 'http://127.0.0.1:1' });
    Object.assign(table.client.config, {
      requestHandler: {
        handle: async ({ body }: { body: string | Uint8Array }) => {
          const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
          const of = text.includes('#HOST_STATUSES') ? statuses : hosts;
          return { response: { statusCode: 200, headers: {}, body: of.subarray() } };
        },
      },
    });
    return table;
  };
  const table = canned();
  const documents = canned();
  const { ours, parse, documentClient } = await takeTurns(
    {
      ours: async () => {
        const { candidates } = await createHostReader({ table, account: 1, ...reading }).next(CANNED_HOSTS);
        if (candidates.length !== CANNED_HOSTS) throw new Error('not all hosts came');
      },
      parse: () => [hosts, statuses].map((bytes) => JSON.parse(bytes.toString())),
      documentClient: () =>
        Promise.all(
          [collections.hosts(1), collections.hostStatuses(1)].map((pk) =>
            documents.client.send(
              new QueryCommand({
                TableName: 'canned',
                KeyConditionExpression: 'pk = :pk',
                ExpressionAttributeValues: { ':pk': pk },
              }),
            ),
          ),
        ),
    },
    { rounds: 20, calls: 10, clock: cpuClock },
  );
  const baseline = { name: 'JSON.parse of the same bytes', value: parse.p50 };
  add({ name: 'CPU of joining 2,000 + 2,000 rows', value: ours.p50, unit: 'ms', baseline, target: { most: 2 } });
  add({ name: 'the same read by the document client', value: documentClient.p50, unit: 'ms', baseline });
}

/** A page of 50 against the same calls to DynamoDB by hand. */
async function measureTime(service: BenchService, add: Add): Promise<void> {
  const {
    byHand: client,
    table: { name },
  } = service;
  const query = (pk: string) =>
    client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        Limit: 51,
      }),
    );
  const { ours, bare } = await takeTurns(
    {
      ours: () => {
        service.stepClock(3_000);
        return service.call(browseFleet, REFERENCE.appKey, {});
      },
      bare: async () => {
        await client.send(
          new UpdateCommand({
            TableName: name,
            Key: keys.rateCount(9, 'bare', 1),
            UpdateExpression: 'ADD #total :one',
            ExpressionAttributeNames: { '#total': 'total' },
            ExpressionAttributeValues: { ':one': 1 },
          }),
        );
        await Promise.all([
          query(collections.hosts(REFERENCE.account)),
          query(collections.hostStatuses(REFERENCE.account)),
        ]);
      },
    },
    { rounds: 20, calls: 10 },
  );
  const baseline = { name: 'the same calls through the document client', value: bare.p50 };
  add({ name: 'page of 50, time', value: ours.p50, unit: 'ms', baseline });
}

async function simulate({ endpoint, table }: BenchService, account: number, hosts: number): Promise<void> {
  const { stdin, stdout, stderr } = process;
  const args = [
    'fleet',
    'simulate',
    '--account',
    account,
    '--hosts',
    hosts,
    '--endpoint',
    endpoint,
    '--table',
    table.name,
  ];
  const io = { stdin, stdout, stderr, env: process.env, signal: never, now: Date.now };
  if ((await runAdmin(args.map(String), io)) !== 0) throw new Error('fleet simulate failed');
}

/** The first page, one in the middle and the last one, of a large fleet and of a small one. */
async function measureFlatness(service: BenchService, add: Add): Promise<void> {
  const pagesOf = async ({ account, hosts }: typeof SMALL) => {
    const { candidates } = await createHostReader({ table: service.table, account, ...reading }).next(hosts);
    const secret = (await readAccount(service.table, account))?.cursor_secret;
    if (candidates.length !== hosts || !secret) throw new Error('the fleet is not there');
    const after = (index: number) => ({ cursor: sealCursor(secret, candidates[index]?.host.host_id ?? '') });
    return { first: {}, middle: after(hosts / 2), last: after(hosts - 51) };
  };
  const [small, large] = [await pagesOf(SMALL), await pagesOf(LARGE)];
  for (const page of ['first', 'middle', 'last'] as const) {
    const browse = (appKey: string, body: object) => () => {
      service.stepClock(3_000);
      return service.call(browseFleet, appKey, body);
    };
    const times = await takeTurns(
      { small: browse(SMALL.appKey, small[page]), large: browse(LARGE.appKey, large[page]) },
      { rounds: 30, calls: 10 },
    );
    add({
      name: `${page} page of 50,000 hosts`,
      value: times.large.p50,
      unit: 'ms',
      baseline: { name: `${page} page of 1,000 hosts`, value: times.small.p50 },
      target: { most: 1.25 },
    });
  }
}
