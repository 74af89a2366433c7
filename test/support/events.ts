import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { inject } from 'vitest';
import type { ServiceEvent } from '../../lib/events/event.ts';
import { createRelay } from '../../lib/events/relay.ts';
import type { Table } from '../../lib/table/client.ts';
import { readDeployment } from '../../packages/local/deployment.ts';
import { matches } from '../../packages/local/stream.ts';
import { recordsOf } from '../../packages/local/test/support/stream-records.ts';
import { testDeps } from './service.ts';

/** The records of an account in a table's stream. */
export const recordsOfAccount = async (table: Table, account: number): Promise<DynamoDBRecord[]> =>
  (await recordsOf(table)).filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S?.startsWith(`ACCOUNT#${account}#`));

/** The records of a table's stream, or of one account in it, that the stack's event filters let through to the function `relay`. */
export async function recordsForRelay(table: Table, account?: number): Promise<DynamoDBRecord[]> {
  const { patterns } = readDeployment(inject('template'), table.name).stream;
  const records = await (account === undefined ? recordsOf(table) : recordsOfAccount(table, account));
  return records.filter((record) => patterns.some((pattern) => matches(pattern, record)));
}

/** Runs the function relay on records. @param accepts whether its destinations accept a message or an event */
export async function relayed(
  table: Table,
  Records: DynamoDBRecord[],
  accepts: (messageOrEvent: string | ServiceEvent) => boolean = () => true,
) {
  const sent: Record<string, string[]> = {};
  const events: ServiceEvent[] = [];
  const deps = testDeps(table);
  const relay = createRelay(
    deps,
    {
      async send(queue, bodies) {
        sent[queue] = [...(sent[queue] ?? []), ...bodies.filter(accepts)];
        return bodies.map(accepts);
      },
      async publish(published) {
        events.push(...published.filter(accepts));
        return published.map(accepts);
      },
    },
    { merges: 'merges', deadLetters: 'deadLetters' },
  );
  const { batchItemFailures }: DynamoDBBatchResponse = await relay({ Records });
  return { sent, events, failures: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier), log: deps.log };
}
