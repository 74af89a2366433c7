import { expect } from 'vitest';
import { data, invalid, refused } from '../answers.ts';
import { DELETE, MERGE } from '../api-client.ts';
import { isTime, ROUNDED, RUM_RECORD } from '../data.ts';
import { BIG } from '../hosts.ts';
import { type Check, NOT_SPECIFIED, type Requirements, todo, withData } from '../requirement.ts';
import { MISSING, NO_OBJECT_IDS, OBJECT_ID, refusesValues } from './common.ts';

const RECORD: Readonly<Record<string, unknown>> = RUM_RECORD;

/** Every answer's fields and types are checked already: this compares the value with that of the data set, if it was imported. */
const rumField =
  (name: string): Check =>
  async (api) => {
    const record = data(await api.rum());
    expect(record).toHaveProperty([name]);
    if (!api.environment.entities) return;
    // Times are compared with the first one, since the time of the import is unknown.
    const expected = isTime(name) ? record.created_at + Number(RECORD[name]) - RUM_RECORD.created_at : RECORD[name];
    expect(record[name], name).toBe(expected);
  };

const TYPE_NAMES = { string: 'string', boolean: 'boolean', number: 'integer', bigint: 'integer' };
const rumFields: Record<string, Check> = Object.fromEntries(
  Object.entries(RUM_RECORD).map(([name, value]) => {
    const type = TYPE_NAMES[typeof value as keyof typeof TYPE_NAMES];
    return [`${name}: ${type}${isTime(name) ? ' timestamp' : ''}`, rumField(name)];
  }),
);

export const rumRecord = {
  'account_id: integer': async (api) => {
    const { account_id } = data(await api.rum());
    if (api.environment.stored) expect(account_id).toBe(api.environment.stored.account);
  },
  ...rumFields,
  'Field names contain dots and are exact: there are these 25 and no others': async (api) => {
    const names = Object.keys(data(await api.rum()));
    expect(names.sort()).toEqual(['account_id', ...Object.keys(RUM_RECORD)].sort());
  },
  'The window of the plan begins before it ends': async (api) => {
    const { window_start_time, window_end_time } = data(await api.rum());
    expect(window_start_time).toBeLessThan(window_end_time);
  },
  'The record holds plan version, quotas and status, and the current use of sessions': withData(async (api) => {
    const record = data(await api.rum());
    for (const [name, value] of Object.entries(RUM_RECORD)) if (!isTime(name)) expect(record[name], name).toBe(value);
  }),
  'Unit of the timestamps, meaning of .days and _cnt, values of status and version': todo(NOT_SPECIFIED),
} satisfies Requirements;

export const workItem = {
  'Identified by work_item_id, a string': async (api) => {
    await refusesValues(api, DELETE, 'work_item_id', [7], { version: 1 });
    refused(await api.remove(MISSING), 'ResourceNotFound', MISSING.work_item_id);
  },
  'Carries an integer version': (api) => refusesValues(api, DELETE, 'version', ['1', 1.5, null], { work_item_id: 'x' }),
  'A version beyond 2^53 is compared without rounding': withData(async (api, { workItems: { big } }) => {
    refused(await api.remove({ ...big, version: ROUNDED }), 'InvalidParameter');
    data(await api.remove(big));
  }),
  'Deletion is soft: the record is kept, marked deleted': withData(async (api, { workItems: { deleted } }) => {
    data(await api.remove(deleted));
    data(await api.remove(deleted)); // it succeeds, so the record still exists and its version is compared
    refused(await api.remove({ ...deleted, version: deleted.version + 1 }), 'ResourceNotFound');
  }),
  'Other fields of the work item': todo(NOT_SPECIFIED),
} satisfies Requirements;

export const alertAndIncident = {
  'An alert is identified by 24 hexadecimal digits': (api) => {
    const values = NO_OBJECT_IDS.map((id) => [id]);
    return refusesValues(api, MERGE, 'alert_ids', values, { incident_id: OBJECT_ID });
  },
  'An incident is identified by 24 hexadecimal digits': (api) =>
    refusesValues(api, MERGE, 'incident_id', NO_OBJECT_IDS, { alert_ids: [OBJECT_ID] }),
  'A member is identified by an int64, without rounding': withData(async (api, { alerts, incidents }) => {
    const body = { alert_ids: [alerts[1]], incident_id: incidents.bounds };
    refused(await api.merge({ ...body, owner_id: ROUNDED }), 'ResourceNotFound', String(ROUNDED));
    data(await api.merge({ ...body, owner_id: BIG }));
    invalid(await api.merge({ ...body, owner_id: 2n ** 63n }), 'owner_id');
  }),
  'Other fields of alert, incident and member': todo(NOT_SPECIFIED),
} satisfies Requirements;
