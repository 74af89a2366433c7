import type { DynamoDBRecord } from 'aws-lambda';
import { inject } from 'vitest';
import type { ServiceEvent } from '../../lib/events/event.ts';
import { createRelay } from '../../lib/events/relay.ts';
import type { Table } from '../../lib/table/client.ts';
import type { Key } from '../../lib/table/keys.ts';
import { readDeployment } from '../../packages/local/deployment.ts';
import { matches } from '../../packages/local/stream.ts';
import { recordsOf } from '../../packages/local/test/support/stream-records.ts';
import { testDeps } from './service.ts';

/** The records of an account in a table's stream that the stack's event filters let through to the function `relay`. */
export async function recordsForRelay(table: Table, account: number): Promise<DynamoDBRecord[]> {
  const { patterns } = readDeployment(inject('template'), table.name).stream;
  const prefix = `ACCOUNT#${account}#`;
  return (await recordsOf(table)).filter(
    (record) =>
      record.dynamodb?.Keys?.pk?.S?.startsWith(prefix) && patterns.some((pattern) => matches(pattern, record)),
  );
}

/** Runs the function relay on records. @param accepts whether its queues accept a message or an event */
export async function relayed(
  table: Table,
  Records: DynamoDBRecord[],
  accepts: (sent: Key | string | ServiceEvent) => boolean = () => true,
) {
  const sent = { merges: [] as Key[], events: [] as ServiceEvent[], deadLetters: [] as string[] };
  const sendTo = (name: keyof typeof sent) => async (payloads: (Key | string | ServiceEvent)[]) => {
    (sent[name] as typeof payloads).push(...payloads.filter(accepts));
    return payloads.map(accepts);
  };
  const deps = testDeps(table);
  const [merges, events, deadLetters] = [sendTo('merges'), sendTo('events'), sendTo('deadLetters')];
  const { batchItemFailures } = await createRelay(deps, { merges, events, deadLetters })({ Records });
  return { ...sent, failures: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier), log: deps.log };
}
