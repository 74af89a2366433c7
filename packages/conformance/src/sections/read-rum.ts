import { expect } from 'vitest';
import { stringifyJson } from '../../../../lib/shared/json.ts';
import { loadData } from '../../../admin/data/load.ts';
import { data } from '../answers.ts';
import { RUM } from '../api-client.ts';
import { type RUM_RECORD, rumLines } from '../data.ts';
import type { LocalAccount } from '../environment.ts';
import type { Requirements } from '../requirement.ts';
import { INTERNAL_ERROR, needsKey, RATE_LIMITED, refusesValues } from './common.ts';
import { rumRecord } from './records.ts';

/** Stores the record with changes. */
async function store({ table, account }: LocalAccount, changes: Partial<typeof RUM_RECORD>): Promise<void> {
  const lines = rumLines(account, Date.now(), changes).map((line) => stringifyJson(line));
  await loadData(table, 'certify', lines, { nowSeconds: Math.floor(Date.now() / 1_000) });
}

export const readRum = {
  'POST /rum/resource/info returns the record and its current session usage':
    rumRecord['The record holds plan version, quotas and status, and the current use of sessions'],
  'no_cache: optional boolean': async (api) => {
    await refusesValues(api, RUM, 'no_cache', ['true', 1, null]);
    for (const body of [{}, { no_cache: false }, { no_cache: true }]) data(await api.rum(body));
  },
  'no_cache: false when left out, and then the record may come from the cache': async (api) => {
    const { record } = api.need('changing');
    const nameWith = async (body: object) => data(await api.rum(body, { as: record.appKey })).resource_name;
    await store(record, { resource_name: 'one' });
    expect(await nameWith({ no_cache: true }), 'past the cache').toBe('one');
    await store(record, { resource_name: 'two' });
    expect(await nameWith({}), 'from the cache').toBe('one');
    expect(await nameWith({ no_cache: false }), 'from the cache').toBe('one');
    expect(await nameWith({ no_cache: true }), 'past the cache').toBe('two');
  },
  'no_cache concerns plan version, quotas and status, not the usage, which is always current': async (api) => {
    const { usage } = api.need('changing');
    for (const [used, no_cache] of [
      [601, true],
      [602, false],
      [603, true],
    ] as const) {
      await store(usage, { 'session_replay.used_cnt': used });
      expect(data(await api.rum({ no_cache }, { as: usage.appKey }))['session_replay.used_cnt']).toBe(used);
    }
  },
  '400 InvalidParameter': (api) => refusesValues(api, RUM, 'no_cache', ['x']),
  '401 Unauthorized': needsKey,
  '429 RequestTooFrequently': RATE_LIMITED,
  '500 InternalError': INTERNAL_ERROR,
} satisfies Requirements;
