/** What the processes of a week do: their functions, which stay warm from one action to the next, sources and operators. */
import { randomUUID } from 'node:crypto';
import { recordOf } from '../../../lib/ingest/records.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getAlert } from '../../../lib/operations/get-alert/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { OVERDUE } from '../../../lib/operations/merge-alerts/finish.ts';
import { mergeAlerts } from '../../../lib/operations/merge-alerts/schema.ts';
import { sendNotification } from '../../../lib/operations/send-notification/schema.ts';
import { sendRecords } from '../../../lib/operations/send-records/schema.ts';
import { isUnavailable } from '../../../lib/shared/concurrency.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Key, ofKind } from '../../../lib/table/keys.ts';
import type { CommandEvent } from '../../../lib/table/rows.ts';
import { identityOfAppKey, revokeAppKey } from '../../../packages/admin/accounts/app-key-admin.ts';
import { auditAction } from '../../../packages/admin/accounts/audit-rows.ts';
import { exportData } from '../../../packages/admin/data/export.ts';
import { writeRecord } from '../../../packages/admin/data/load.ts';
import { readWorkItem, restoreWorkItem } from '../../../packages/admin/incidents/restore-work-item.ts';
import { UndoError, undoMerge } from '../../../packages/admin/incidents/undo-merge.ts';
import { CONTEXT, createFunctions, LIMITS, sqsEvent } from './functions.ts';
import { type Action, type ClockPlan, incidents } from './plan.ts';
import { ACCOUNT, APP_KEYS, type World } from './world.ts';

export const TRUE_CLOCK: ClockPlan = { aheadMs: 0, isFrozen: false };

/** @returns what performs an action */
export function createProcess(world: World, table: Table, clock: ClockPlan) {
  const { schedule, queues, line } = world;
  const { deps, setClock, call, ingest, relay, publish, finishMerges } = createFunctions(world, table, clock);

  /** What records an operator's command, with its last write. */
  const audit = (event: CommandEvent) =>
    auditAction(ACCOUNT, { id: randomUUID(), at_ms: deps.now(), by: 'o', command: 'c', result: 'done', ...event });

  const rows = () => schedule.items() as unknown as readonly Key[];
  const alertIds = () =>
    ofKind('alert', rows())
      .map(({ sk }) => sk)
      .sort();
  /** Whatever there is, the index selects one. */
  const oneOf = <Each>(all: readonly Each[], index: number): Each | undefined => all[index % all.length];

  const perform: { [Kind in Action['kind']]: (action: Extract<Action, { kind: Kind }>) => Promise<unknown> } = {
    async source({ lines, isRepeated }) {
      const message = { MessageBody: lines.map(line).join('\n') };
      for (const _ of isRepeated ? [1, 2] : [1]) queues.feed.put(message);
    },
    send: ({ lines, appKey }) => call(sendRecords, appKey, { records: lines }),
    async ingest({ count, isImport }) {
      const messages = queues.feed.receive(count);
      const failed = new Set<string>();
      if (isImport)
        for (const { body, ...origin } of messages)
          for (const [index, text] of body.split('\n').entries()) {
            const found = recordOf(text, { ...origin, line: index + 1 });
            if ('record' in found) await writeRecord(table, found.record);
          }
      else {
        const { batchItemFailures } = await ingest(sqsEvent(messages), CONTEXT);
        for (const { itemIdentifier } of batchItemFailures) failed.add(itemIdentifier);
      }
      for (const message of messages) if (!failed.has(message.messageId)) queues.feed.waiting.delete(message);
    },
    async relay({ count }) {
      const { upTo } = world.relayed;
      const Records = world.stream().slice(upTo, upTo + count);
      const { batchItemFailures } = await relay({ Records });
      const failed = batchItemFailures[0]?.itemIdentifier;
      world.relayed.upTo = Math.max(world.relayed.upTo, failed === undefined ? upTo + Records.length : Number(failed));
    },
    async publish({ count }) {
      const messages = queues.events.receive(count);
      const { batchItemFailures } = await publish(sqsEvent(messages));
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const message of messages) if (!failed.has(message.messageId)) queues.events.waiting.delete(message);
    },
    async export() {
      const before = schedule.commits.length;
      const lines = (await Array.fromAsync(exportData(table, [ACCOUNT]))).map((entity) => stringifyJson(entity));
      world.exports.push({ lines, commits: [before, schedule.commits.length] });
    },
    merge({ alerts, into, title, owner, key }) {
      const ids = alertIds();
      const alert_ids = [...new Set(alerts.flatMap((index) => oneOf(ids, index) ?? []))];
      const changes = { ...(title && { title: `merged ${alerts}` }), ...(owner !== undefined && { owner_id: owner }) };
      const body = { alert_ids, incident_id: incidents[into], ...changes };
      return call(mergeAlerts, 0, body, key);
    },
    async undo({ of }) {
      const entry = oneOf(
        ofKind('historyEntry', rows()).filter(({ kind }) => kind === 'merge'),
        of,
      );
      if (!entry) return;
      const { incident_id: incidentId, sequence } = entry;
      await undoMerge(deps, { account: ACCOUNT, incidentId, sequence, by: 'o', requestId: 'u' }, LIMITS);
    },
    async finish({ isOverdue }) {
      if (isOverdue) return finishMerges(OVERDUE, CONTEXT);
      const messages = queues.merges.receive(2);
      await finishMerges(sqsEvent(messages), CONTEXT);
      for (const message of messages) queues.merges.waiting.delete(message);
    },
    delete: ({ version, appKey }) => call(deleteWorkItem, appKey, { work_item_id: 'w', version }),
    async restore() {
      const item = await readWorkItem(table, ACCOUNT, 'w');
      if (item?.deleted_at_ms === undefined) return;
      const event_detail = { work_item_id: 'w', work_item_version: Number(item.version) + 1 };
      await restoreWorkItem(table, ACCOUNT, item, [audit({ event: 'WorkItemRestored', event_detail })]);
    },
    browse: ({ appKey }) => call(browseFleet, appKey, {}),
    list: ({ appKey }) => call(listAlerts, appKey, {}),
    async get({ alert }) {
      const alert_id = oneOf(alertIds(), alert);
      if (alert_id) await call(getAlert, 0, { alert_id });
    },
    notify: ({ notified }) => call(sendNotification, 0, { alerts: notified }),
    rum: ({ appKey }) => call(getRumResource, appKey, {}),
    async sleep({ ms, jumpMs }) {
      world.pauses.push({ at: schedule.calls, ms });
      setClock(jumpMs);
    },
    revoke: () => {
      const event_detail = { app_key_id: 'second' };
      const actions = [audit({ event: 'AppKeyRevoked', event_detail })];
      return revokeAppKey(table, ACCOUNT, identityOfAppKey(APP_KEYS[1]).hash, Math.floor(deps.now() / 1_000), actions);
    },
  };

  /** Performs an action, which may fail as if the table were not available. */
  return async (action: Action): Promise<void> => {
    await (perform[action.kind] as (action: Action) => Promise<unknown>)(action).catch((error: unknown) => {
      if (!isUnavailable(error) && !(error instanceof UndoError)) throw error;
    });
  };
}
