import { RUM_INTEGERS, RUM_TEXTS } from '../contract.ts';
import { ROUNDED, RUM_USAGE, rumRecord } from '../data.ts';
import { data, equal, holds, invalid, refused } from '../expect.ts';
import { BIG } from '../hosts.ts';
import { NOT_SHOWN, open, type Sentence, section, shown, shownOnData } from '../sentence.ts';
import type { Trial } from '../trial.ts';
import { MISSING } from './errors.ts';

const record = async (t: Trial) => data(await t.rum());

const loaded: Readonly<Record<string, unknown>> = { ...rumRecord(0), ...RUM_USAGE };
/** Times are compared with `created_at`, since the time of loading is unknown. */
const isTime = (name: string) => /_(at|time)$/.test(name);
const FIRST_TIME = 'created_at';

const integerField = (name: string): Sentence =>
  shown(`${name}: integer${isTime(name) ? ' timestamp' : ''}`, async (t) => {
    const answer = await record(t);
    const value = answer[name];
    holds(typeof value === 'bigint' || Number.isSafeInteger(value), `an integer ${name}`, value);
    if (name === 'account_id' && t.lab.stored) equal(value, t.lab.stored.account, name);
    if (!t.lab.entities || !(name in loaded)) return;
    if (isTime(name)) equal(value - answer[FIRST_TIME], sinceFirst(name), `${name} minus ${FIRST_TIME}`);
    else equal(value, loaded[name], name);
  });

const sinceFirst = (name: string) => Number(loaded[name]) - Number(loaded[FIRST_TIME]);

const textField = (name: string): Sentence =>
  shown(`${name}: string`, async (t) => {
    const value = (await record(t))[name];
    equal(typeof value, 'string', `type of ${name}`);
    if (t.lab.entities) equal(value, loaded[name], name);
  });

export const rumResource = section('2.4', 'RUM resource record', [
  ...RUM_INTEGERS.slice(0, 1).map(integerField),
  ...RUM_TEXTS.map(textField),
  ...RUM_INTEGERS.slice(1).map(integerField),
  shown('session_limit_reached: boolean', async (t) => {
    const { session_limit_reached: reached } = await record(t);
    equal(typeof reached, 'boolean', 'type of session_limit_reached');
    if (t.lab.entities) equal(reached, RUM_USAGE.session_limit_reached, 'session_limit_reached');
  }),
  shown('Field names contain dots and are exact: there are these 25 and no others', async (t) => {
    const names = [...RUM_INTEGERS, ...RUM_TEXTS, 'session_limit_reached'];
    equal(Object.keys(await record(t)).sort(), names.sort(), 'fields');
  }),
  shown('The window of the plan begins before it ends', async (t) => {
    const { window_start_time: from, window_end_time: to } = await record(t);
    holds(from < to, 'window_start_time before window_end_time', [from, to]);
  }),
  shownOnData('The record holds plan version, quotas and status, and the current use of sessions', async (t) => {
    const answer: Record<string, unknown> = await record(t);
    for (const name of ['version', 'status', 'session_replay.free_cnt', 'session_replay.used_cnt'])
      equal(answer[name], loaded[name], name);
  }),
  open('Unit of the timestamps, meaning of .days and _cnt, values of status and version', NOT_SHOWN),
]);

export const workItem = section('2.5', 'Work item', [
  shown('Identified by work_item_id, a string', async (t) => {
    invalid(await t.remove({ work_item_id: 7, version: 1 }), 'work_item_id');
    refused(await t.remove(MISSING), 'ResourceNotFound', MISSING.work_item_id);
  }),
  shown('Carries an integer version', async (t) => {
    for (const version of ['1', 1.5, null]) invalid(await t.remove({ work_item_id: 'x', version }), 'version');
  }),
  shownOnData('A version beyond 2^53 is compared without rounding', async (t, { workItems: { big } }) => {
    refused(await t.remove({ ...big, version: ROUNDED }), 'InvalidParameter');
    data(await t.remove(big));
  }),
  shownOnData('Deletion is soft: the record is kept, marked deleted', async (t, { workItems: { kept } }) => {
    data(await t.remove(kept));
    data(await t.remove(kept)); // it succeeds, so the record still exists and its version is compared
    refused(await t.remove({ ...kept, version: kept.version + 1 }), 'ResourceNotFound');
  }),
  open('Other fields of the work item', NOT_SHOWN),
]);

export const alertAndIncident = section('2.6', 'Alert and incident (referenced by the merge operation)', [
  shown('An alert is identified by 24 hexadecimal digits', async (t) => {
    for (const id of ['a'.repeat(23), 'a'.repeat(25), 'g'.repeat(24), ''])
      invalid(await t.merge({ alert_ids: [id], incident_id: 'a'.repeat(24) }), 'alert_ids');
  }),
  shown('An incident is identified by 24 hexadecimal digits', async (t) => {
    for (const id of ['a'.repeat(23), 'a'.repeat(25), 'g'.repeat(24), ''])
      invalid(await t.merge({ alert_ids: ['a'.repeat(24)], incident_id: id }), 'incident_id');
  }),
  shownOnData('A member is identified by an int64, without rounding', async (t, { alerts, incidents }) => {
    const body = { alert_ids: [alerts[1]], incident_id: incidents.bounds };
    refused(await t.merge({ ...body, owner_id: ROUNDED }), 'ResourceNotFound', String(ROUNDED));
    data(await t.merge({ ...body, owner_id: BIG }));
    invalid(await t.merge({ ...body, owner_id: 2n ** 63n }), 'owner_id');
  }),
  open('Other fields of alert, incident and member', NOT_SHOWN),
]);
