/** Runs the real code on the table double, so that it makes every kind of request. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { sampleData } from '../../../../infra/generate/sample.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { putUncontestedRow } from '../../../../lib/dynamodb/transact.ts';
import { FEED_KINDS } from '../../../../lib/ingest/kinds.ts';
import { recordOfEntity } from '../../../../lib/ingest/records.ts';
import { rowsOf } from '../../../../lib/ingest/write-records.ts';
import {
  changeAccount,
  listAccounts,
  listAppKeys,
  readAccount,
  removeGatewayKeys,
  storeGatewayKey,
} from '../../../admin/accounts/accounts.ts';
import { readAudit } from '../../../admin/accounts/audit-rows.ts';
import { checkTable } from '../../../admin/check/check.ts';
import { repair } from '../../../admin/check/repair.ts';
import { loadData } from '../../../admin/data/load.ts';
import { listIncidents, listMerges } from '../../../admin/incidents/list.ts';
import { connectDouble } from '../../simulation/double-client.ts';
import { depsOver, type Script, START_MS } from '../../simulation/environment.ts';
import type { Scenario } from '../../simulation/explore.ts';
import type { Request } from '../../simulation/requests.ts';
import { ACCOUNT } from '../../simulation/scenario.ts';
import { SCENARIOS } from '../../simulation/scenarios.ts';
import { type Rows, TableDouble } from '../../simulation/table-double.ts';
import type { Item } from '../../simulation/values.ts';

/** @returns all requests but scans, in their order, and all rows that the tables have held */
export async function everyRequest(): Promise<{ requests: Request[]; items: Item[] }> {
  const requests: Request[] = [];
  const items = new Map<string, Item>();
  /** A table whose requests and rows are recorded. */
  function recorded(rows?: Rows, onWrite: (item: Item) => void = () => {}) {
    const double = new TableDouble(rows);
    double.onWrite = onWrite;
    const table = connectDouble(async (request) => {
      requests.push(request);
      const reply = double.apply(request);
      for (const item of double.items()) items.set(`${item.pk} ${item.sk}`, item);
      return reply;
    });
    return { double, table };
  }

  /** Runs the processes of a scenario one after the other, and those that messages start. */
  async function runAlone({ starts, processes, messagesFor }: Scenario): Promise<Rows> {
    const scripts: Script[] = processes.map(({ script }) => script);
    const [rows] = await starts();
    const { double, table } = recorded(rows, (item) => {
      for (const { script } of messagesFor?.(item) ?? []) scripts.push(script);
    });
    for (const script of scripts)
      await script({ deps: depsOver(table), invoke: (_name, act) => act(), pause: async () => {} }).catch(() => {});
    return double.rows;
  }

  // Costlier scenarios make no other kinds of request. Some of them need the Git history, for the previous release.
  for (const scenario of SCENARIOS.filter(({ cost }) => cost < 4)) {
    const { double, table } = recorded(await runAlone(scenario));
    // Each row is lost once, as a restore may lose it, so that every repair runs.
    for (const lost of double.items()) {
      await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk: lost.pk, sk: lost.sk } }));
      for await (const findings of checkTable(table)) await repair(table, findings);
    }
  }

  const { table } = recorded();
  const sample = sampleData(START_MS).map((line) => JSON.parse(line));
  const ofEachKind = [...Map.groupBy(sample, ({ kind }) => kind).values()].flatMap((lines) => lines.slice(0, 4));
  await loadData(
    table,
    'data',
    ofEachKind.map((line) => JSON.stringify(line)),
    { nowMs: 1_000 },
  );
  for (const line of ofEachKind.filter(({ kind }) => FEED_KINDS.includes(kind)))
    for (const [index, retired] of [false, false, line.kind === 'host', false].entries()) {
      const record = recordOfEntity({ ...line, at_ms: START_MS + (index % 3) }, retired);
      for (const { write } of rowsOf([record])) await write(table);
    }
  await putUncontestedRow(table, { ...keys.audit(ACCOUNT, 5, 'own'), id: 'own' });
  await changeAccount(table, ACCOUNT, () => ({ permissions: [] }));
  await storeGatewayKey(table, ACCOUNT, 'gateway');
  await removeGatewayKeys(table);
  await listAccounts(table);
  const account = await readAccount(table, ACCOUNT);
  if (account) await listAppKeys(table, account);
  await readAudit(table, ACCOUNT, 0);
  await listIncidents(table, ACCOUNT);
  await listMerges(table, ACCOUNT, 1);
  return { requests: requests.filter(({ name }) => name !== 'ScanCommand'), items: [...items.values()] };
}
