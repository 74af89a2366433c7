import { expect } from 'vitest';
import { data, invalid, refused } from '../../answers.ts';
import { FEED_RESULT } from '../../contract.ts';
import { OWNER } from '../../data.ts';
import { type OperationSection, withData } from '../../requirement.ts';
import { COMMON_ERRORS, needsPermission, refuses } from '../common.ts';

const PATH = '/feed/records';
/** As it is already. */
const RECORD = { kind: 'member', member_id: OWNER, name: `Member ${OWNER}` };

export const section: OperationSection = {
  heading: '4.5 Send records to the feed',
  path: PATH,
  permission: 'feed',
  data: FEED_RESULT,
  requirements: {
    'POST /feed/records takes records, and says how many': withData(async (api) => {
      expect(data(await api.call(PATH, { records: [RECORD, RECORD] }))).toEqual({ accepted: 2 });
    }),
    'The body may be the array alone, or have a record a line': withData(async (api) => {
      expect(data(await api.call(PATH, [RECORD]))).toEqual({ accepted: 1 });
      const lines = {
        raw: `${JSON.stringify(RECORD)}\n`.repeat(2),
        headers: { 'Content-Type': 'application/x-ndjson' },
      };
      expect(data(await api.call(PATH, undefined, lines))).toEqual({ accepted: 2 });
    }),
    'What can be taken is taken; the first ten of the others are named': withData(async (api) => {
      const { accepted, refused, refused_count } = data(
        await api.call(PATH, { records: [7, RECORD, ...Array(10).fill({})] }),
      );
      expect([accepted, refused_count]).toEqual([1, 11]);
      expect(refused.map(({ index }: { index: number }) => index)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }),
    'A record has at most 8,192 bytes, and no member __proto__': async (api) => {
      for (const [raw, named] of [
        [`[{"kind":"member"${' '.repeat(8_192)}}]`, '8192'],
        ['[{"kind":"member","__proto__":1}]', '__proto__'],
      ] as const)
        invalid(await api.call(PATH, undefined, { raw }), named);
    },
    'Needs the permission Feed Write (feed)': needsPermission,
    'records: required, 1 to 1000 objects': refuses(PATH, 'records', [undefined, [], null, Array(1_001).fill({}), [7]]),
    'If none can be taken, each is named': async (api) => {
      const answer = await api.call(PATH, { records: [{ kind: 'member', member_id: OWNER }] });
      invalid(answer, 'records[0]');
      expect(answer.body.error).toMatchObject({ refused: [{ index: 0 }], refused_count: 1 });
    },
    'InvalidContentType: neither application/json nor application/x-ndjson': async (api) =>
      refused(
        await api.call(PATH, {}, { headers: { 'Content-Type': 'text/plain' } }),
        'InvalidContentType',
        'x-ndjson',
      ),
    ...COMMON_ERRORS,
  },
};
