import { expect } from 'vitest';
import { data } from '../../answers.ts';
import type { ApiClient } from '../../api-client.ts';
import { integer, object, pageOf, text } from '../../contract.ts';
import type { DataSet } from '../../data.ts';
import { all, type OperationSection, withData } from '../../requirement.ts';
import { COMMON_ERRORS, continues, type Item, refuses, refusesUnsupported } from '../common.ts';

const PATH = '/incident/list';
const incident = object(
  { incident_id: text, account_id: integer, title: text, owner_id: integer, created_at: integer, updated_at: integer },
  { owner: object({ member_id: integer, member_name: text }) },
);
const idsOf = ({ items }: { items: Item[] }): string[] => items.map(({ incident_id }) => incident_id);

/** The ids of all incidents of the data set, the highest first. */
const allIds = ({ incidents }: DataSet) => Object.values(incidents).sort().reverse();
const listed = async (api: ApiClient, body: object) => idsOf(data(await api.call(PATH, body)));

export const section: OperationSection = {
  heading: '4.9 List incidents',
  path: PATH,
  data: pageOf(incident),
  requirements: {
    'incident_ids: these, the highest id first; unknown ones are left out': withData(async (api, dataSet) => {
      const incident_ids = [...allIds(dataSet).toReversed(), dataSet.unknown, dataSet.otherAccount.incident];
      expect(await listed(api, { incident_ids })).toEqual(allIds(dataSet));
    }),
    'asc: the lowest id first': withData(async (api, dataSet) =>
      expect(await listed(api, { incident_ids: allIds(dataSet), asc: true })).toEqual(allIds(dataSet).toReversed()),
    ),
    'incident_ids: at most 100 ObjectIDs': refuses(PATH, 'incident_ids', [Array(101).fill('a'.repeat(24)), ['x'], 'x']),
    'query: titles that contain it, in either letter case': all(
      refuses(PATH, 'query', ['', 'q'.repeat(257), 7]),
      withData(async (api, dataSet) => {
        const incident_ids = allIds(dataSet);
        expect(await listed(api, { incident_ids, query: 'OURC' })).toEqual([dataSet.incidents.source]);
      }),
    ),
    'start_time and end_time: both or none, of created_at': all(
      refuses(PATH, 'end_time', [undefined, 5], { start_time: 5 }),
      refuses(PATH, 'start_time', [undefined], { end_time: 5 }),
      withData(async (api, dataSet) => {
        const incident_ids = [dataSet.incidents.bounds];
        const [{ created_at }] = data(await api.call(PATH, { incident_ids })).items;
        const within = (start_time: number, end_time: number) => listed(api, { incident_ids, start_time, end_time });
        expect(await within(created_at, created_at + 1)).toEqual(incident_ids);
        expect(await within(created_at - 1, created_at)).toEqual([]);
      }),
    ),
    'limit: 1 to 100': refuses(PATH, 'limit', [0, 101, '20', 1.5]),
    'search_after_ctx: continues the list, of the same account and filters only': withData(async (api, dataSet) => {
      const incident_ids = allIds(dataSet);
      const [first, second] = await continues(api, PATH, { incident_ids, limit: 3 }, { asc: true });
      expect([idsOf(first), first.has_next_page]).toEqual([incident_ids.slice(0, 3), true]);
      expect([idsOf(second), second.has_next_page]).toEqual([incident_ids.slice(3), false]);
    }),
    'filters that the list does not have are refused': refusesUnsupported(PATH, {
      ...{ p: [0, 1], progress: [], incident_severity: [], channel_ids: [], team_ids: [], responder_ids: [] },
      ...{ acker_ids: [], creator_ids: [], closer_ids: [], nums: [], is_snoozed: [false], is_my_team: [false] },
      ...{ is_my_channel: [false], ever_muted: [false], is_rare: [false] },
    }),
    ...COMMON_ERRORS,
  },
};
