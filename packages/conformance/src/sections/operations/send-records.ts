import { expect } from 'vitest';
import { data, invalid } from '../../answers.ts';
import { natural, object } from '../../contract.ts';
import { OWNER } from '../../data.ts';
import { type OperationSection, withData } from '../../requirement.ts';
import { INTERNAL_ERROR, needsKey, needsPermission, RATE_LIMITED, refuses } from '../common.ts';

const PATH = '/feed/records';

export const section: OperationSection = {
  heading: '4.5 Send records to the feed',
  path: PATH,
  permission: 'feed',
  data: object({ accepted: natural }),
  requirements: {
    'POST /feed/records takes records, and says how many': withData(async (api) => {
      // As it is already.
      const record = { kind: 'member', member_id: OWNER, name: `Member ${OWNER}` };
      expect(data(await api.call(PATH, { records: [record, record] }))).toEqual({ accepted: 2 });
    }),
    'Needs the permission Feed Write (feed)': needsPermission,
    'records: required, 1 to 1000 objects': refuses(PATH, 'records', [undefined, [], null, Array(1_001).fill({}), [7]]),
    'A record that the feed cannot take is named': async (api) =>
      invalid(await api.call(PATH, { records: [{ kind: 'member', member_id: OWNER }] }), 'records[0]'),
    '401 Unauthorized': needsKey,
    '429 RequestTooFrequently': RATE_LIMITED,
    '500 InternalError': INTERNAL_ERROR,
  },
};
