import { expect } from 'vitest';
import { data, refused } from '../../answers.ts';
import type { ApiClient } from '../../api-client.ts';
import { alertItem, pageOf } from '../../contract.ts';
import { all, type OperationSection, withData } from '../../requirement.ts';
import { COMMON_ERRORS, continues, type Item, refuses, refusesUnsupported } from '../common.ts';

const PATH = '/alert/list';
/** A page of all alerts that a check can name. */
const LIMIT = { limit: 100 };
const keysOf = ({ items }: { items: Item[] }): string[] => items.map(({ alert_key }) => alert_key);

/** The keys of a list that has no other alerts than these. */
const listed = async (api: ApiClient, alert_keys: string[], body: object = {}) =>
  keysOf(data(await api.call(PATH, { ...LIMIT, alert_keys, ...body })));

export const section: OperationSection = {
  heading: '4.7 List alerts',
  path: PATH,
  data: pageOf(alertItem),
  requirements: {
    'POST /alert/list lists open alerts, the latest start first': withData(async (api, { openKeys, endedKey }) => {
      const ours = new Set([...openKeys, endedKey]);
      const found: string[] = [];
      for (let cursor: string | undefined, pages = 0; pages === 0 || cursor; pages += 1) {
        const page = data(await api.call(PATH, { ...LIMIT, search_after_ctx: cursor }));
        found.push(...keysOf(page).filter((key) => ours.has(key)));
        cursor = page.search_after_ctx;
      }
      expect(found).toEqual(openKeys);
    }),
    'asc: the earliest start first': withData(async (api, { openKeys }) =>
      expect(await listed(api, openKeys, { asc: true })).toEqual(openKeys.toReversed()),
    ),
    'alert_keys and alert_ids: these, open or not': withData(async (api, { openKeys, endedKey, alerts }) => {
      expect((await listed(api, [endedKey, ...openKeys])).sort()).toEqual([endedKey, ...openKeys].sort());
      const { items } = data(await api.call(PATH, { alert_ids: alerts.slice(0, 2) }));
      expect(items.map(({ alert_id }: Item) => alert_id).sort()).toEqual(alerts.slice(0, 2).sort());
    }),
    'start_time and end_time: alerts that started then, open and ended; not with ids or keys': all(
      refuses(PATH, 'end_time', [undefined, 5, 2_678_406], { start_time: 5 }),
      refuses(PATH, 'start_time', [undefined], { end_time: 5 }),
      refuses(PATH, 'alert_keys', [['k']], { start_time: 5, end_time: 6 }),
      withData(async (api, { endedKey, openKeys }) => {
        const [{ start_time }] = data(await api.call(PATH, { alert_keys: [endedKey] })).items;
        const times = { start_time, end_time: start_time + 1, ...LIMIT };
        expect(keysOf(data(await api.call(PATH, times)))).toContain(endedKey);
        expect(keysOf(data(await api.call(PATH, { ...times, is_active: true })))).not.toContain(endedKey);
        const [{ start_time: start }] = data(await api.call(PATH, { alert_keys: openKeys })).items;
        const ended = { start_time: start, end_time: start + 1, is_active: false, ...LIMIT };
        expect(keysOf(data(await api.call(PATH, ended)))).not.toContain(openKeys[0]);
      }),
    ),
    'is_active: true leaves out ended alerts; false requires times, ids or keys': withData(
      async (api, { openKeys, endedKey }) => {
        expect(await listed(api, [endedKey, ...openKeys], { is_active: true })).toEqual(openKeys);
        expect(await listed(api, [endedKey, ...openKeys], { is_active: false })).toEqual([endedKey]);
        refused(await api.call(PATH, { is_active: false }), 'InvalidParameter', 'alert_keys');
      },
    ),
    'alert_severity: one or several, with commas': all(
      refuses(PATH, 'alert_severity', ['Ok', 'Critical;Info', 7]),
      withData(async (api, { openKeys }) => {
        expect(await listed(api, openKeys, { alert_severity: 'Critical' })).toEqual(openKeys.slice(0, 1));
        expect(await listed(api, openKeys, { alert_severity: 'Info,Warning' })).toEqual(openKeys.slice(1));
      }),
    ),
    'limit: 1 to 100': refuses(PATH, 'limit', [0, 101, '20', 1.5]),
    'alert_ids and alert_keys: at most 100 together': all(
      refuses(PATH, 'alert_keys', [Array(51).fill('k')], { alert_ids: Array(50).fill('a'.repeat(24)) }),
      refuses(PATH, 'alert_ids', [Array(101).fill('a'.repeat(24)), ['x'], 'a'.repeat(24)]),
      refuses(PATH, 'alert_keys', [Array(101).fill('k'), [''], 'k']),
    ),
    'search_after_ctx: continues the list, of the same account and filters only': withData(
      async (api, { openKeys: alert_keys }) => {
        const [first, second] = await continues(api, PATH, { limit: 2, alert_keys }, { asc: true });
        expect([keysOf(first), first.has_next_page]).toEqual([alert_keys.slice(0, 2), true]);
        expect([keysOf(second), second.has_next_page]).toEqual([alert_keys.slice(2), false]);
      },
    ),
    'filters that the list does not have are refused': refusesUnsupported(PATH, {
      ...{ p: [0, 1], channel_ids: [], integration_ids: [], ever_muted: [false], orderby: [], by_updated_at: [false] },
    }),
    ...COMMON_ERRORS,
  },
};
