import { expect } from 'vitest';
import { data, invalid } from '../../answers.ts';
import { FEED_RESULT } from '../../contract.ts';
import { type OperationSection, withData } from '../../requirement.ts';
import { COMMON_ERRORS, needsPermission, refuses } from '../common.ts';

const PATH = '/feed/alertmanager';
const ALERT = { status: 'resolved', labels: { alertname: 'Certificate' }, startsAt: '2026-01-01T00:00:00Z' };

export const section: OperationSection = {
  heading: '4.6 Send a notification of Alertmanager to the feed',
  path: PATH,
  permission: 'feed',
  maxBodyBytes: 4 * 2 ** 20,
  data: FEED_RESULT,
  requirements: {
    'POST /feed/alertmanager takes the alerts of a notification, and says how many': withData(async (api) =>
      expect(data(await api.call(PATH, { alerts: [ALERT] }))).toEqual({ accepted: 1 }),
    ),
    'Needs the permission Feed Write (feed)': needsPermission,
    'alerts: required array': refuses(PATH, 'alerts', [undefined, null, 'x', {}]),
    'Alerts that can be read are taken, and the others named': withData(async (api) =>
      expect(data(await api.call(PATH, { alerts: [ALERT, 7] }))).toMatchObject({
        ...{ accepted: 1, refused: [{ index: 1 }], refused_count: 1 },
      }),
    ),
    'If none can be read, each is named': async (api) => invalid(await api.call(PATH, { alerts: [7] }), 'alerts[0]'),
    'Other members of a notification are ignored': withData(async (api) =>
      expect(data(await api.call(PATH, { alerts: [ALERT], version: '4', truncatedAlerts: 0 }))).toEqual({
        accepted: 1,
      }),
    ),
    ...COMMON_ERRORS,
  },
};
