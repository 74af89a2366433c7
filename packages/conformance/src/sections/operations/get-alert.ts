import { expect } from 'vitest';
import { data, refused } from '../../answers.ts';
import { alertItem } from '../../contract.ts';
import { alertContent } from '../../data.ts';
import { type OperationSection, withData } from '../../requirement.ts';
import { COMMON_ERRORS, refuses } from '../common.ts';

const PATH = '/alert/info';

export const section: OperationSection = {
  heading: '4.8 Read an alert',
  path: PATH,
  data: alertItem,
  requirements: {
    'POST /alert/info reads an alert': withData(async (api, { openKeys, alerts, incidents }) => {
      const { items } = data(await api.call('/alert/list', { alert_keys: openKeys.slice(0, 1) }));
      const [listed] = items;
      const { alert_status, started_at_ms, ...content } = alertContent(0, 0);
      expect(listed).toMatchObject({ ...content, alert_status, alert_severity: alert_status, end_time: 0 });
      expect(data(await api.call(PATH, { alert_id: listed.alert_id.toUpperCase() }))).toEqual(listed);
      const merged = data(await api.call(PATH, { alert_id: alerts[11] }));
      expect(merged).toMatchObject({ labels: {}, incident: { incident_id: incidents.source, title: 'source' } });
      expect(merged).not.toHaveProperty('alert_status');
    }),
    'alert_id: required, 24 hexadecimal digits': refuses(PATH, 'alert_id', [undefined, null, 7, 'a'.repeat(23)]),
    'ResourceNotFound if there is none in the account': withData(async (api, { unknown, otherAccount }) => {
      for (const alert_id of [unknown, otherAccount.alert])
        refused(await api.call(PATH, { alert_id }), 'ResourceNotFound', alert_id);
    }),
    ...COMMON_ERRORS,
  },
};
