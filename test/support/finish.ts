import type { SQSEvent } from 'aws-lambda';
import { createFinishMerges } from '../../lib/operations/merge-alerts/finish.ts';
import type { Table } from '../../lib/table/client.ts';
import { testDeps } from './service.ts';

type Entries = readonly Record<string, unknown>[];

/** The event of the queue with a message for each large entry of a feed. */
export const messagesOf = (feed: Entries) =>
  ({
    Records: feed.filter(({ large }) => large).map(({ pk, sk }) => ({ body: JSON.stringify({ pk, sk }) })),
  }) as SQSEvent;

/** Runs finish-merges on the large entries of a feed. */
export const finishFeed = (
  table: Table,
  feed: Entries,
  {
    deps = testDeps(table),
    transactionItems,
    leftMs = 60_000,
  }: { deps?: ReturnType<typeof testDeps>; transactionItems?: number; leftMs?: number } = {},
): Promise<void> =>
  createFinishMerges(deps, transactionItems)(messagesOf(feed), { getRemainingTimeInMillis: () => leftMs });
