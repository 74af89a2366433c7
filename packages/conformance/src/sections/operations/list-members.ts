import { expect } from 'vitest';
import { data } from '../../answers.ts';
import { integer, object, pageOf, text } from '../../contract.ts';
import { OWNER } from '../../data.ts';
import { BIG } from '../../hosts.ts';
import { all, type OperationSection, withData } from '../../requirement.ts';
import { COMMON_ERRORS, continues, type Item, refuses, refusesUnsupported } from '../common.ts';

const PATH = '/member/list';
const member = object({ account_id: integer, member_id: integer, member_name: text, updated_at: integer });
const idsOf = ({ items }: { items: Item[] }) => items.map(({ member_id }) => member_id);

export const section: OperationSection = {
  heading: '4.10 List members',
  path: PATH,
  data: pageOf(member),
  requirements: {
    'query: names that contain it, in either letter case; ids are exact': all(
      refuses(PATH, 'query', ['', 'q'.repeat(257), 7]),
      withData(async (api) => {
        for (const id of [OWNER, BIG])
          expect(idsOf(data(await api.call(PATH, { query: `MEMBER ${id}` })))).toContainEqual(id);
      }),
    ),
    'limit: 1 to 100': refuses(PATH, 'limit', [0, 101, '20', 1.5]),
    'members in the order of their ids as text; search_after_ctx continues the list, of the same account and filters only':
      withData(async (api) => {
        const [first, second] = await continues(api, PATH, { query: 'member', limit: 1 }, { query: 'x' });
        const ids = [...idsOf(first), ...idsOf(second)].map(String);
        expect(ids).toEqual(ids.toSorted());
        expect(new Set(ids).size).toBe(ids.length);
      }),
    'filters that the list does not have are refused': refusesUnsupported(PATH, {
      ...{ p: [0, 1], role_id: [0], orderby: [], asc: [true] },
    }),
    ...COMMON_ERRORS,
  },
};
