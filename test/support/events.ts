import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import type { Table } from '../../lib/dynamodb/client.ts';
import type { ServiceEvent } from '../../lib/events/event.ts';
import { createRelay } from '../../lib/events/relay.ts';
import { testDeps } from './service.ts';

/** What relay makes of records. @param taken whether the destinations take what they are sent */
export async function relayed(
  table: Table,
  Records: DynamoDBRecord[],
  taken: (what: string | ServiceEvent) => boolean = () => true,
) {
  const sent: Record<string, string[]> = {};
  const events: ServiceEvent[] = [];
  const deps = testDeps(table);
  const relay = createRelay(
    deps,
    {
      async send(queue, bodies) {
        sent[queue] = [...(sent[queue] ?? []), ...bodies.filter(taken)];
        return bodies.map(taken);
      },
      async publish(some) {
        events.push(...some.filter(taken));
        return some.map(taken);
      },
    },
    { merges: 'merges', deadLetters: 'deadLetters' },
  );
  const { batchItemFailures }: DynamoDBBatchResponse = await relay({ Records });
  return { sent, events, failures: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier), log: deps.log };
}
