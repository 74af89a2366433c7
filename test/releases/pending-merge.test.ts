/** This tree finishes a large merge that the previous release committed and left pending, whichever way it learns of the merge. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { mergeAlerts } from '../../lib/http/operations.ts';
import { createFinishMerges, OVERDUE } from '../../lib/operations/merge-alerts/finish.ts';
import { recordsForRelay, recordsOfAccount, relayed } from '../support/events.ts';
import { newAccount } from '../support/incidents.ts';
import { type Release, startReleases } from '../support/releases.ts';
import { eventFor, newTable, testDeps } from '../support/service.ts';

let table: Table;
let releases: Release[];
beforeAll(async () => {
  table = await newTable({ stream: true });
  releases = await startReleases(table);
}, 15 * 60_000); // the previous release may have to install its packages
afterAll(() => Promise.all(releases.map((release) => release.stop())));

/** The messages that the pipe of the previous release put into the queue. This tree has no pipe. */
async function pipedMessages(account: number) {
  const [{ tree }] = releases as [Release];
  const [, template] = /inputTemplate: '([^']+)'/.exec(readFileSync(join(tree, 'infra/merge-queue.ts'), 'utf8')) ?? [];
  return (await recordsOfAccount(table, account))
    .filter(({ eventName, dynamodb }) => eventName === 'INSERT' && dynamodb?.NewImage?.large?.BOOL)
    .map(({ dynamodb }) =>
      template?.replace(/<\$\.dynamodb\.Keys\.(\w+)\.S>/g, (_, name) => JSON.stringify(dynamodb?.Keys?.[name]?.S)),
    );
}

/** The messages that the function relay sends for the records that pass its filters. */
async function relayedMessages(account: number) {
  return (await relayed(table, await recordsForRelay(table, account))).sent.merges;
}

it.each<[string, (account: number) => Promise<unknown>]>([
  ['a message that its pipe left in the queue', async (account) => finishOf(await pipedMessages(account))],
  [
    'a message of relay, which reads the stream from its beginning',
    async (account) => finishOf(await relayedMessages(account)),
  ],
  [
    'the schedule, if its message was lost',
    () => {
      const depsSixMinutesLater = testDeps(table, { now: () => Date.now() + 6 * 60_000 });
      return createFinishMerges(depsSixMinutesLater)(OVERDUE, { getRemainingTimeInMillis: () => 60_000 });
    },
  ],
])('a pending merge of the previous release is finished by %s', async (_what, finish) => {
  const [previous] = releases as [Release];
  const tenant = await newAccount(table);
  const [incident, alerts] = [await tenant.incident(), await tenant.alerts(250)];
  const event = eventFor(mergeAlerts, { appKey: tenant.appKey, body: { alert_ids: alerts, incident_id: incident } });
  // The first transaction of a merge is its commit.
  previous.proxy.plan(({ action }) => (action === 'TransactWriteItems' ? 'kill' : undefined));
  await previous.call(mergeAlerts.name, event);
  previous.proxy.plan();
  expect(await tenant.pending()).toHaveLength(1);
  await finish(tenant.account);
  expect(await tenant.pending()).toEqual([]);
  expect(new Set(await tenant.placements(alerts))).toEqual(new Set([incident]));
});

async function finishOf(bodies: readonly (string | undefined)[] = []): Promise<void> {
  expect(bodies).toHaveLength(1);
  const [, current] = releases as [Release, Release];
  await current.finish({ Records: bodies.map((body) => ({ body })) });
}
