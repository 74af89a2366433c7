/** The events that the function relay publishes for the stream records that the template's filters let through. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { eventSamples, eventsSchema } from '../../infra/generate/events.ts';
import type { ServiceEvent } from '../../lib/events/event.ts';
import { appKeyIdOf, hashAppKey } from '../../lib/http/app-keys.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { expectEnvelope } from '../support/answers.ts';
import { recordsForRelay, relayed } from '../support/events.ts';
import { type AroundCall, aroundCalls, dyingAfterCommit, losing } from '../support/faults.ts';
import { newAccount } from '../support/incidents.ts';
import { callOperation, connectAgain, handlersOver, newTable, stored, testDeps } from '../support/service.ts';

/** Small transactions, so that few alerts take several of them. */
const MERGE_LIMITS = { transactionItems: 12 };
const LARGE = 30;

const table = await newTable({ stream: true });
const admin = adminOf(table);

const eventsOf = async (account: number) => (await relayed(table, await recordsForRelay(table, account))).events;

const validate = new Ajv2020({ strict: false, formats: { int64: true } }).compile(eventsSchema());
function isValid({ type, detail }: { type: string; detail: object }): boolean {
  const text = JSON.stringify(detail, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
  return validate({ source: 'incident-monitoring-rum', 'detail-type': type, detail: JSON.parse(text) });
}
function expectValid(events: readonly ServiceEvent[]): void {
  for (const event of events) expect([isValid(event), validate.errors, event]).toEqual([true, null, event]);
}

const handlerOf = (own: Table) => handlersOver(testDeps(own), MERGE_LIMITS).mergeAlerts;

it('the schema of the events accepts a sample of each event, and none without its id', () => {
  const samples = eventSamples();
  expect(samples).toHaveLength(9);
  expectValid(samples);
  for (const { type, detail } of samples) {
    const { id: _id, ...others } = detail;
    expect([type, isValid({ type, detail: others })]).toEqual([type, false]);
  }
});

describe('the events of an account', () => {
  it('are published for merges, for large ones both at the commit and at completion, and for undos', async () => {
    const tenant = await newAccount(table);
    await tenant.member(7);
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    const [fewAlerts, manyAlerts] = [await tenant.alerts(3), await tenant.alerts(LARGE)];
    const merge = async (body: object) => {
      const answer = await tenant.merge(handlerOf(table), body);
      expectEnvelope(answer, 200);
      return answer.body.request_id as string;
    };
    const smallRequestId = await merge({
      alert_ids: fewAlerts,
      incident_id: from,
      comment: 'same',
      title: 'New',
      owner_id: 7,
    });
    const repeatedRequestId = await merge({ alert_ids: fewAlerts.slice(0, 2), incident_id: from });
    const largeRequestId = await merge({ alert_ids: manyAlerts, incident_id: to });
    const [smallEntry, repeatedEntry] = await tenant.feed(from);
    const [largeEntry] = await tenant.feed(to);
    for (const { incident_id, sequence } of [smallEntry, largeEntry]) {
      const undo = await admin(`merge undo ${incident_id} ${sequence} --account ${tenant.account} --yes`);
      expect(undo.exitCode).toBe(0);
    }
    const undoEntry = (await tenant.feed(from)).at(-1);
    const undoOfLargeEntry = (await tenant.feed(to)).at(-1);

    const events = await eventsOf(tenant.account);
    expectValid(events);
    const eventOf = (type: string, entry: typeof smallEntry, more: object) => {
      const { incident_id, sequence } = entry;
      const detail = { version: 1, account_id: tenant.account, incident_id, sequence, ...more };
      return { type, detail: expect.objectContaining(detail) };
    };
    const by = appKeyIdOf(hashAppKey(tenant.appKey));
    const operator = expect.stringMatching(/^operator ./);
    const changes = { comment: 'same', title: 'New', owner_id: 7 };
    const expected = [
      eventOf('AlertsMerged', smallEntry, {
        request_id: smallRequestId,
        by,
        at_ms: smallEntry.at_ms,
        alerts: 3,
        ...changes,
        complete: true,
      }),
      eventOf('AlertsMerged', smallEntry, { alert_ids: expect.toSatisfy(isListOf(fewAlerts)) }),
      eventOf('AlertsMerged', repeatedEntry, {
        request_id: repeatedRequestId,
        by,
        alerts: 0,
        alert_ids: [],
        complete: true,
      }),
      eventOf('AlertsMerged', largeEntry, { request_id: largeRequestId, by, alerts: LARGE, complete: false }),
      eventOf('AlertsMerged', largeEntry, { alert_ids: expect.toSatisfy(isListOf(manyAlerts)) }),
      eventOf('MergeCompleted', largeEntry, { request_id: largeRequestId, by, alerts: LARGE }),
      eventOf('MergeUndone', undoEntry, { by: operator, alerts: 1, undone_sequence: smallEntry.sequence }),
      eventOf('MergeUndone', undoOfLargeEntry, { by: operator, alerts: LARGE, undone_sequence: largeEntry.sequence }),
    ];
    expect(events).toHaveLength(6);
    expect(events).toEqual(expect.arrayContaining(expected));
    expect(new Set(events.map(({ detail }) => detail.id)).size).toBe(events.length);
    expect(await eventsOf(tenant.account)).toEqual(events);
  });

  it("are published for deletions and operators' commands, and not for what failed", async () => {
    const tenant = await newAccount(table);
    const { account } = tenant;
    const item = { kind: 'work_item', account_id: account, work_item_id: 'w', version: 5, title: 't' };
    const load = (line: object) => loadData(table, 'item', [JSON.stringify(line)], { nowMs: Date.now() });
    await load(item);
    const call = () =>
      callOperation(handlersOver(testDeps(table)), deleteWorkItem, {
        appKey: tenant.appKey,
        body: { work_item_id: 'w', version: 5 },
      });
    const { body } = await call();
    await call();
    const row = await stored(table, keys.workItem(account, 'w'));
    expect((await admin(`export --account ${account}`)).out).not.toContain('command');
    const run = async (line: string) => {
      const { exitCode, out } = await admin(`${line} --yes`);
      expect(exitCode).toBe(0);
      return out.trim();
    };
    await run(`work-item restore w --account ${account}`);
    await run(`account suspend ${account}`);
    await run(`account unsuspend ${account}`);
    await run(`account grant ${account} monit`);
    const key = await run(`app-key issue --account ${account}`);
    const id = appKeyIdOf(hashAppKey(key));
    const rotated = await run(`app-key rotate ${id} --account ${account}`);
    await run(`app-key revoke ${id} --account ${account}`);
    expect((await admin(`app-key revoke 0123456789abcdef --account ${account} --yes`)).exitCode).not.toBe(0);
    // An imported item that was deleted in another table. Its deletion has the same event as there, but for its cause.
    const { pk: _pk, sk: _sk, feed_order: _order, ...deleted } = row;
    for (let times = 0; times < 2; times += 1)
      await load({ ...item, ...deleted, work_item_id: 'elsewhere', kind: 'work_item', account_id: account });
    await load({ ...item, work_item_id: 'y', deleted_at_ms: 1_700_000_000_000 });

    // Each load deletes it again: a repetition of the event, with the same id.
    const events = [...new Map((await eventsOf(account)).map((event) => [event.detail.id, event])).values()];
    expectValid(events);
    const operator = { by: expect.stringMatching(/^operator ./) };
    expect(
      events.map(({ type, detail: { id: _id, version: _version, at_ms: _at, ...fields } }) => ({ type, ...fields })),
    ).toEqual([
      {
        ...{ type: 'WorkItemDeleted', account_id: account, request_id: body.request_id },
        ...{ by: appKeyIdOf(hashAppKey(tenant.appKey)), work_item_id: 'w', work_item_version: 6 },
      },
      ...[
        { type: 'WorkItemRestored', command: 'work-item restore', work_item_id: 'w', work_item_version: 7 },
        { type: 'AccountSuspended', command: 'account suspend' },
        { type: 'AccountUnsuspended', command: 'account unsuspend' },
        { type: 'AppKeyIssued', command: 'app-key issue', app_key_id: id },
        { type: 'AppKeyIssued', command: 'app-key rotate', app_key_id: appKeyIdOf(hashAppKey(rotated)) },
        { type: 'AppKeyRevoked', command: 'app-key revoke', app_key_id: id },
      ].map((fields) => ({ account_id: account, ...operator, ...fields })),
      ...[
        { by: row.deleted_by, work_item_id: 'elsewhere', work_item_version: 6 },
        { by: 'record', work_item_id: 'y', work_item_version: 5 },
      ].map((fields) => ({ type: 'WorkItemDeleted', account_id: account, command: 'record', ...fields })),
    ]);
    const text = JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    for (const secret of [key, rotated, tenant.appKey]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(hashAppKey(secret));
    }
  });
});

/** Whether a value lists just these ids, in any order. */
const isListOf = (ids: readonly string[]) => (value: unknown) =>
  Array.isArray(value) && value.length === ids.length && ids.every((id) => value.includes(id));

it.each([1, LARGE])('a merge of %d alerts has its events if and only if it is committed', async (count) => {
  const tenant = await newAccount(table);
  const [alerts, to] = [await tenant.alerts(count), await tenant.incident()];
  const mergeWith = async (around: AroundCall) => {
    const dying = connectAgain(table);
    aroundCalls(dying, around);
    return (await tenant.merge(handlerOf(dying), { alert_ids: alerts, incident_id: to })).status;
  };
  const typesOf = async () => (await eventsOf(tenant.account)).map(({ type }) => type);
  expect([await mergeWith(losing('TransactWrite')), await typesOf()]).toEqual([503, []]);
  expect([await mergeWith(dyingAfterCommit()), await typesOf()]).toEqual([200, ['AlertsMerged']]);
  await tenant.finish(to, MERGE_LIMITS.transactionItems);
  expect(await typesOf()).toEqual(count === 1 ? ['AlertsMerged'] : ['AlertsMerged', 'MergeCompleted']);
});

it('MergeCompleted is not dated before the AlertsMerged of its merge, whose clock may be ahead', async () => {
  const tenant = await newAccount(table);
  const [alert_ids, incident_id] = [await tenant.alerts(LARGE), await tenant.incident()];
  const { mergeAlerts } = handlersOver(testDeps(table, { now: () => Date.now() + 90_000 }), MERGE_LIMITS);
  expectEnvelope(await tenant.merge(mergeAlerts, { alert_ids, incident_id }), 200);
  const [merged, completed] = await eventsOf(tenant.account);
  expect([completed?.type, completed?.detail.at_ms]).toEqual(['MergeCompleted', merged?.detail.at_ms]);
});
