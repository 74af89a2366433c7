import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { type Key, parseKey } from '../table/keys.ts';
import type { FeedEntry } from './feed.ts';
import { MOVE_BUDGET_MS } from './merge-alerts.ts';
import { finishMerge } from './move.ts';

/** Milliseconds after the commit in which the call itself is expected to do the moves. */
const LEASE_MS = MOVE_BUDGET_MS + 1_000;
/** Milliseconds between two looks at whether it has. */
const LOOK_EVERY_MS = 2_000;

/**
 * Finishes the merges whose calls were cut short, from the table's stream: the event holds feed entries that were committed
 * with their moves pending. The calls are given their time first. A failure is thrown, so that the records come again.
 */
export function createFinishMerges(
  { table, now, log, metrics }: Pick<Deps, 'table' | 'now' | 'log' | 'metrics'>,
  leaseMs = LEASE_MS,
) {
  /** Waits while the call may still be at work; @returns whether the merge is pending then */
  async function isLeft(key: Key, committedAtMs: number): Promise<boolean> {
    for (;;) {
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true, ProjectionExpression: 'pending' }),
      );
      if (!Item?.pending) return false;
      const leaseLeftMs = committedAtMs + leaseMs - now();
      if (leaseLeftMs <= 0) return true;
      await sleep(Math.min(leaseLeftMs, LOOK_EVERY_MS));
    }
  }

  return async function finishMerges({ Records }: DynamoDBStreamEvent): Promise<void> {
    for (const { dynamodb } of Records) {
      const image = dynamodb?.NewImage;
      if (!image?.pending) continue;
      const entry = table.unmarshall<FeedEntry & Key>(image as Record<string, AttributeValue>);
      const { account } = parseKey(entry) ?? {};
      if (account === undefined || !(await isLeft({ pk: entry.pk, sk: entry.sk }, entry.at_ms))) continue;
      if (!(await finishMerge(table, account, entry.incident_id, entry.stamp))) continue;
      metrics.event('merge_finished_late');
      log.warn('merge finished after its call was cut short', { request_id: entry.request_id, stamp: entry.stamp });
    }
  };
}
