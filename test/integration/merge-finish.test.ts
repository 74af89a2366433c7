import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { createFinishMerges } from '../../lib/incidents/finish-merges.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { hasEnvelope } from '../support/answers.ts';
import { aroundCalls, connectionLost } from '../support/faults.ts';
import { isMerged, newAccount } from '../support/incidents.ts';
import { connectAgain, handlersOver, newTable, testDeps } from '../support/service.ts';
import { insertsOf } from '../support/stream.ts';

let table: Table;
beforeAll(async () => {
  table = await newTable({ stream: true });
});

/** A handler over a client of its own, whose calls can be made to fail. */
function instance() {
  const own = connectAgain(table);
  const deps = testDeps(own);
  return { table: own, deps, handler: handlersOver(deps).mergeAlerts };
}

describe('a merge that is cut short after its commit', () => {
  /** Commits a merge of 150 alerts, then lets every further call of its function fail. */
  async function cutShort() {
    const at = await newAccount(table);
    const [from, to] = [await at.incident(), await at.incident()];
    const alerts = await at.alerts(150, from);
    const dying = instance();
    let committed = false;
    aroundCalls(dying.table, async ({ command }, send) => {
      if (committed) throw connectionLost();
      await send();
      committed ||= command === 'TransactWriteItemsCommand' || command === 'TransactWriteCommand';
    });
    const answer = await at.merge(dying.handler, { alert_ids: alerts, incident_id: to });
    return { at, from, to, alerts, answer };
  }

  it('answers success, for the merge stands', async () => {
    const { at, from, to, alerts, answer } = await cutShort();
    hasEnvelope(answer, 200);
    expect(new Set(await at.whereabouts(alerts))).toEqual(new Set([from]));
    expect((await at.feed(to))[0]).toMatchObject({ pending: true });
    expect(await at.pending()).toHaveLength(1);
  });

  it("is finished by finish-merges from the table's stream, however often the record comes", async () => {
    const { at, to, alerts } = await cutShort();
    const finish = createFinishMerges(testDeps(table), 0);
    const event = await insertsOf(table, keys.feedEntry(at.account, to, (await at.feed(to))[0].sequence));
    expect(event.Records).toHaveLength(1);
    await finish(event);
    await isMerged(at, to, alerts);
    await finish(event);
    await isMerged(at, to, alerts);
  });

  it('is left alone by finish-merges while its call may still be at work', async () => {
    const { at, to } = await cutShort();
    const [entry] = await at.feed(to);
    const event = await insertsOf(table, keys.feedEntry(at.account, to, entry.sequence));
    const leaseMs = Date.now() - entry.at_ms + 1_000;
    await createFinishMerges(testDeps(table), leaseMs)(event);
    expect(Date.now() - entry.at_ms).toBeGreaterThanOrEqual(leaseMs);
  });

  it('fails the record when DynamoDB is away, so that the stream brings it again', async () => {
    const { at, to, alerts } = await cutShort();
    const event = await insertsOf(table, keys.feedEntry(at.account, to, (await at.feed(to))[0].sequence));
    const away = instance();
    const back = aroundCalls(away.table, async ({ number }, send) => {
      if (number > 5) throw connectionLost();
      await send();
    });
    await expect(createFinishMerges(away.deps, 0)(event)).rejects.toThrow('connection lost');
    back();
    await createFinishMerges(away.deps, 0)(event);
    await isMerged(at, to, alerts);
  });

  it('gives way to a later merge, whose feed tells that its alerts came from it', async () => {
    const { at, from, to, alerts } = await cutShort();
    const later = await at.incident();
    const taken = alerts.slice(0, 20);
    hasEnvelope(await at.merge(instance().handler, { alert_ids: taken, incident_id: later }), 200);
    await at.finish(later);
    const [entry] = await at.feed(later);
    expect(entry.moved).toEqual({ [to]: expect.arrayContaining(taken) }); // not `from`, where the rows still had them
    expect(entry.moved).not.toHaveProperty(from);
    await createFinishMerges(
      testDeps(table),
      0,
    )(await insertsOf(table, keys.feedEntry(at.account, to, (await at.feed(to))[0].sequence)));
    expect(new Set(await at.whereabouts(taken))).toEqual(new Set([later]));
    expect(new Set(await at.whereabouts(alerts.slice(20)))).toEqual(new Set([to]));
  });

  it('lets a merge into the same incident see its alerts as there already', async () => {
    const { at, to, alerts } = await cutShort();
    hasEnvelope(await at.merge(instance().handler, { alert_ids: alerts.slice(0, 3), incident_id: to }), 200);
    await at.finish(to);
    const [, second] = await at.feed(to);
    expect(second).toMatchObject({ moved: {}, stayed: expect.arrayContaining(alerts.slice(0, 3)) });
  });

  it('lets a later merge that is large too see where its alerts are', async () => {
    const { at, to, alerts } = await cutShort();
    const later = await at.incident();
    hasEnvelope(await at.merge(instance().handler, { alert_ids: alerts, incident_id: later }), 200);
    await at.finish(later);
    expect((await at.feed(later))[0].moved).toEqual({ [to]: expect.arrayContaining(alerts) });
    const [earlier] = await at.feed(to);
    await createFinishMerges(
      testDeps(table),
      0,
    )(await insertsOf(table, keys.feedEntry(at.account, to, earlier.sequence)));
    await isMerged(at, later, alerts);
  });
});

it('the table has the stream that finish-merges needs', async () => {
  const { Table } = await table.client.send(new DescribeTableCommand({ TableName: table.name }));
  expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_IMAGE' });
});
