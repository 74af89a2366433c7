/** Compares importing 100,000 rows of hosts with eight concurrent `BatchWriteItem` calls of the same rows, alternately. */
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { rowOf } from '../../../lib/ingest/entity-rows.ts';
import { checkAgainst, writeData } from '../../admin/data/load.ts';
import { startBenchService } from '../bench-service.ts';
import { accountLines, fleetLines } from '../fleet-data.ts';
import type { NewFigure } from '../report.ts';

const ROWS = 100_000;
const TURNS = 10;
const AT_ONCE = 8;
/** The first accounts of those whose hosts are written by hand, and of those whose are imported: one of each a turn. */
const [WRITTEN, IMPORTED] = [100, 200] as const;

/** What a careful user would write by hand. */
async function writeBare(table: Table, lines: readonly string[]): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < lines.length) {
      const batch = lines.slice(next, next + 25);
      next += batch.length;
      const requests = batch.map((line) => ({ PutRequest: { Item: rowOf(JSON.parse(line)) } }));
      const { UnprocessedItems } = await table.client.send(
        new BatchWriteCommand({ RequestItems: { [table.name]: requests } }),
      );
      if (UnprocessedItems?.[table.name]) throw new Error('DynamoDB left rows unprocessed');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const turns = Array.from({ length: TURNS + 1 }, (_, index) => index - 1);
  const accounts = turns.flatMap((turn) =>
    accountLines(IMPORTED + turn, `bench-key-of-import-${turn}`.padEnd(32, '-')),
  );
  const service = await startBenchService(accounts);
  const spent = { bare: 0, import: 0 };
  const timed = async (what: keyof typeof spent, act: () => Promise<unknown>) => {
    const began = performance.now();
    await act();
    spent[what] += performance.now() - began;
  };
  try {
    for (const turn of turns) {
      if (turn === 0) Object.assign(spent, { bare: 0, import: 0 }); // the first turn warmed up
      const size = ROWS / TURNS / 2;
      const linesOf = (account: number) => fleetLines(account, size, Date.now());
      // Each side has rows of its own, since DynamoDB Local replaces rows at another speed than it creates them.
      const [bare, imported] = [linesOf(WRITTEN + turn), linesOf(IMPORTED + turn)];
      const write = {
        bare: () => timed('bare', () => writeBare(service.table, bare)),
        import: () =>
          timed('import', async () => {
            const entities = await checkAgainst(service.table, 'bench', imported);
            await writeData(service.table, entities, { nowSeconds: 0 });
          }),
      };
      for (const what of turn % 2 === 0 ? (['bare', 'import'] as const) : (['import', 'bare'] as const))
        await write[what]();
    }
    const rate = (milliseconds: number) => ROWS / (milliseconds / 1000);
    add({
      name: 'import of 100,000 rows, checked',
      value: rate(spent.import),
      unit: 'rows/s',
      baseline: { name: 'BatchWriteItem alone', value: rate(spent.bare) },
      target: { least: 0.8 },
    });
  } finally {
    await service.stop();
  }
}
