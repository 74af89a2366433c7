/** An import beside a loader that puts each row by a conditional call of its own, each in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { Endpoint } from '../../lib/aws/endpoint.ts';
import { PATIENT } from '../../lib/aws/http-handler.ts';
import { keyOf } from '../../lib/ingest/record-rows.ts';
import { forEach } from '../../lib/shared/concurrency.ts';
import { connectTable } from '../../lib/table/client.ts';
import { startLimitsProxy } from '../../test/limits-proxy/limits-proxy.ts';
import { loadData } from '../admin/data/load.ts';
import type { Figure } from './run.ts';
import { accountLines, fleetLines, startBenchService } from './service.ts';
import { inTurns, startTimer } from './timings.ts';

const LINES = 1_600;
const ROUNDS = 2;
/** What DynamoDB gives a new on-demand table each second. Source: Developer Guide, "DynamoDB on-demand capacity mode". */
const LIMITS = { writeUnits: 4_000, readUnits: 12_000 };
const SIDES = ['import', 'loader'] as const;
type Side = (typeof SIDES)[number];

/** Half are hosts and their reports, the others of equal parts. Each file has ids of its own. */
function linesOf(account_id: number, file: number, nowMs: number): string[] {
  const id = (index: number) => (1_000_000 * file + index + 1).toString(16).padStart(24, '0');
  const others = Array.from({ length: LINES / 8 }, (_, index) => [
    { kind: 'incident', incident_id: id(index), title: 'Checkout is down' },
    { kind: 'alert', alert_id: id(index), title: 'p99 above threshold', incident_id: id(index) },
    { kind: 'alert', alert_key: `disk ${id(index)}`, alert_status: 'Critical', title: 'Disk is full' },
    { kind: 'work_item', work_item_id: id(index), version: 1, title: 'Raise the timeout' },
  ]);
  const hosts = fleetLines(account_id, LINES / 4, nowMs).map((line) => line.replace('"fra-1-edge', `"${file}-edge`));
  return [...hosts, ...others.flat().map((fields) => JSON.stringify({ account_id, ...fields }))];
}

const LOADERS: Readonly<Record<Side, (endpoint: string, name: string) => Load>> = {
  import(endpoint, name) {
    const table = connectTable({ endpoint, name, ...PATIENT });
    return (lines, nowMs) => loadData(table, 'bench', lines, { nowMs, onWritten: () => undefined });
  },
  /** What a careful user would write: only a later line replaces a row. */
  loader(endpoint, TableName) {
    const { url, credentials } = new Endpoint(endpoint);
    const plain = new DynamoDBClient({ endpoint: url, region: 'local', credentials, maxAttempts: 20 });
    const client = DynamoDBDocumentClient.from(plain);
    const put = async (line: string, nowMs: number) => {
      const { kind, account_id, ...fields } = JSON.parse(line);
      const Item = { ...keyOf({ kind, account_id, ...fields }), ...fields, at_ms: nowMs };
      const ConditionExpression = 'attribute_not_exists(pk) OR at_ms <= :at';
      await client.send(
        new PutCommand({ TableName, Item, ConditionExpression, ExpressionAttributeValues: { ':at': nowMs } }),
      );
    };
    return (lines, nowMs) => forEach(lines, (line) => put(line, nowMs), { concurrency: 32 });
  },
};
type Load = (lines: readonly string[], nowMs: number) => Promise<void>;

/** The process of one side: writes a file, and answers with the milliseconds of it. */
function serve([side, endpoint, name]: string[]): void {
  const load = LOADERS[side as Side](endpoint ?? '', name ?? '');
  process.on('message', async ([file, nowMs]: [number, number]) => {
    const lines = linesOf(1 + SIDES.indexOf(side as Side), file, nowMs);
    const elapsed = startTimer();
    await load(lines, nowMs);
    process.send?.(elapsed());
  });
}

export async function run(add: (figure: Figure) => void): Promise<void> {
  const lines = SIDES.flatMap((_side, index) => accountLines(index + 1, `bench-key-${index}`.padEnd(32, '-')));
  await using resources = new AsyncDisposableStack();
  const service = resources.use(await startBenchService(lines));
  const limits = resources.adopt(await startLimitsProxy(service.endpoint, LIMITS), ({ close }) => close());
  const nowMs = Date.now();
  const baselineName = 'conditional PutItems by the document client, 32 at a time';

  /** Both sides write the same new file in each round. @param again whether they write it twice, and the second time counts */
  async function measure(what: string, endpoint: string, firstFile: number, again = false): Promise<void> {
    const sideOf = (side: Side) => {
      const child = fork(import.meta.filename, [side, endpoint, service.table.name]);
      resources.defer(() => child.disconnect());
      const sum = { tookMs: 0, cpuMs: 0, calls: 0, writeUnits: 0 };
      let round = 0;
      const load = async (file: number) => {
        const before = limits.totals();
        child.send([file, nowMs]);
        const [took] = (await once(child, 'message')) as [{ tookMs: number; cpuMs: number }];
        const { calls, writeUnits } = limits.totals();
        return {
          ...took,
          calls: calls - before.calls,
          writeUnits: writeUnits - before.writeUnits,
        };
      };
      return {
        sum,
        async round() {
          const file = firstFile + round;
          if (again) await load(file);
          const figures = await load(file);
          round += 1;
          if (round === 1) return; // warms up
          for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += figures[name];
        },
      };
    };
    const [imported, loader] = [sideOf('import'), sideOf('loader')];
    await inTurns(1 + ROUNDS, [imported.round, loader.round]);
    const figure = (name: string, of: keyof typeof imported.sum, unit: string, most?: number) =>
      add({
        name: `${what}, ${name}`,
        value: imported.sum[of] / (LINES * ROUNDS),
        unit,
        baseline: { name: baselineName, value: loader.sum[of] / (LINES * ROUNDS) },
        ...(most !== undefined && { most }),
      });
    figure('time of a line', 'tookMs', 'ms');
    figure('CPU of a line', 'cpuMs', 'ms');
    if (endpoint !== limits.endpoint) return;
    figure('calls of a line', 'calls', '');
    figure('write units of a line', 'writeUnits', '');
  }

  await measure('new rows', service.endpoint, 0);
  await measure('the same rows again', service.endpoint, 10, true);
  await measure('new rows, limits of 4,000 units', limits.endpoint, 20);
}

if (import.meta.main) serve(process.argv.slice(2));
