import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { type Key, parseKey } from '../table/keys.ts';
import type { FeedEntry } from './feed.ts';
import { finishMerge } from './finish.ts';

/** Milliseconds after the commit in which the call itself is expected to do the moves. */
const LEASE_MS = 4_000;

/**
 * Finishes the merges whose calls did not, from the table's stream: the event holds large feed entries as they were committed.
 * The calls are given their time first. A failure is thrown, so that the records come again.
 */
export function createFinishMerges(
  { table, now, log, metrics }: Pick<Deps, 'table' | 'now' | 'log' | 'metrics'>,
  leaseMs = LEASE_MS,
  transactionItems?: number,
) {
  return async function finishMerges({ Records }: DynamoDBStreamEvent): Promise<void> {
    for (const { dynamodb } of Records) {
      const image = dynamodb?.NewImage;
      if (!image?.large) continue;
      const entry = table.unmarshall<FeedEntry & Key>(image as Record<string, AttributeValue>);
      const { account } = parseKey(entry) ?? {};
      if (account === undefined) continue;
      await sleep(Math.max(0, entry.at_ms + leaseMs - now()));
      const { incident_id: incidentId, sequence } = entry;
      if ((await finishMerge(table, account, incidentId, sequence, { transactionItems })) === 'nothing to do') continue;
      metrics.event('merge_finished_late');
      log.warn('merge finished after its call was cut short', { request_id: entry.request_id, sequence });
    }
  };
}
