import { expect } from 'vitest';
import { data } from '../../answers.ts';
import { RUM } from '../../api-client.ts';
import { flag, integer, object, text } from '../../contract.ts';
import { isTime, RUM_RECORD, rumLines } from '../../data.ts';
import type { LocalAccount } from '../../environment.ts';
import {
  type Check,
  NOT_SPECIFIED,
  type OperationSection,
  type Requirements,
  todo,
  withData,
} from '../../requirement.ts';
import { COMMON_ERRORS, refuses, store } from '../common.ts';

const RECORD: Readonly<Record<string, unknown>> = RUM_RECORD;
const TYPES: Readonly<Record<string, object>> = { string: text, boolean: flag, number: integer, bigint: integer };

/** Compares the value of a field with that of the data set, if it was imported. The client already validates fields and types of every answer. */
const rumField =
  (name: string): Check =>
  async (api) => {
    const record = data(await api.rum());
    expect(record).toHaveProperty([name]);
    if (!api.environment.dataSet) return;
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
    if (api.environment.tableAccess) expect(account_id).toBe(api.environment.tableAccess.account);
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

const change = (account: LocalAccount, changes: Partial<typeof RUM_RECORD>) =>
  store(account, rumLines(account.account, Date.now(), changes));

export const readRum = {
  'POST /rum/resource/info returns the record and its current session usage':
    rumRecord['The record holds plan version, quotas and status, and the current use of sessions'],
  'no_cache: optional boolean': async (api) => {
    await refuses(RUM, 'no_cache', ['true', 1, null])(api);
    for (const body of [{}, { no_cache: false }, { no_cache: true }]) data(await api.rum(body));
  },
  'no_cache: false when left out, and then the record may come from the cache': async (api) => {
    const { recordAccount } = api.need('furtherAccounts');
    const nameWith = async (body: object) => data(await api.rum(body, { as: recordAccount.appKey })).resource_name;
    await change(recordAccount, { resource_name: 'one' });
    expect(await nameWith({ no_cache: true }), 'past the cache').toBe('one');
    await change(recordAccount, { resource_name: 'two' });
    expect(await nameWith({}), 'from the cache').toBe('one');
    expect(await nameWith({ no_cache: false }), 'from the cache').toBe('one');
    expect(await nameWith({ no_cache: true }), 'past the cache').toBe('two');
  },
  'no_cache concerns plan version, quotas and status, not the usage, which is always current': async (api) => {
    const { usageAccount } = api.need('furtherAccounts');
    for (const [index, no_cache] of [true, false, true].entries()) {
      const used = 601 + index;
      await change(usageAccount, { 'session_replay.used_cnt': used });
      expect(data(await api.rum({ no_cache }, { as: usageAccount.appKey }))['session_replay.used_cnt']).toBe(used);
    }
  },
  '400 InvalidParameter': refuses(RUM, 'no_cache', ['x']),
  ...COMMON_ERRORS,
} satisfies Requirements;

export const section: OperationSection = {
  heading: '4.2 Get RUM resource info',
  path: RUM,
  data: object({
    account_id: integer,
    ...Object.fromEntries(Object.entries(RECORD).map(([name, value]) => [name, TYPES[typeof value] ?? {}])),
  }),
  requirements: readRum,
};
