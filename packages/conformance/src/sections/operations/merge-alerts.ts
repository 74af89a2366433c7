import { expect } from 'vitest';
import { readHistory } from '../../../../../lib/operations/merge-alerts/entry.ts';
import { readAlert } from '../../../../admin/incidents/alerts.ts';
import { readIncident } from '../../../../admin/incidents/list.ts';
import { data, invalid, refused } from '../../answers.ts';
import { type ApiClient, MERGE } from '../../api-client.ts';
import { OWNER, ROUNDED } from '../../data.ts';
import { BIG } from '../../hosts.ts';
import { NOT_SPECIFIED, type OperationSection, type Requirements, todo, withData } from '../../requirement.ts';
import { refuses } from '../common.ts';

const OBJECT_ID = 'a'.repeat(24);
const INVALID_OBJECT_IDS = ['a'.repeat(23), 'a'.repeat(25), 'g'.repeat(24), '', 1, null];
const INVALID_ALERT_IDS = [undefined, [], OBJECT_ID, null, ...INVALID_OBJECT_IDS.map((id) => [id])];
const IDS = { alert_ids: [OBJECT_ID], incident_id: OBJECT_ID };
/** A character outside the Basic Multilingual Plane: two UTF-16 units, one code point. */
const WIDE = '😀';

/** Sends a merge whose answer alone is checked: no check reads the incident of its alert. */
const mergeAny = (api: ApiClient, otherFields: object) => {
  const { alerts, incidents } = api.need('dataSet');
  return api.merge({ alert_ids: [alerts[2]], incident_id: incidents.bounds, ...otherFields });
};

/** Asserts that a text field accepts this many characters and no more. */
async function takesAtMost(api: ApiClient, field: string, maxLength: number): Promise<void> {
  await refuses(MERGE, field, ['x'.repeat(maxLength + 1), 7], IDS)(api);
  refused(await api.merge({ ...IDS, [field]: 'x'.repeat(maxLength) }), 'ResourceNotFound');
  if (!api.environment.dataSet) return;
  data(await mergeAny(api, { [field]: 'x'.repeat(maxLength) }));
  data(await mergeAny(api, { [field]: WIDE.repeat(maxLength) }));
}

function storedIncident(api: ApiClient, incident: string) {
  const { table, account } = api.need('tableAccess');
  return readIncident(table, account, incident);
}

/** Asserts that the rows of alerts have this incident. */
async function expectAlertsIn(api: ApiClient, incident: string, alerts: string[]): Promise<void> {
  const { table, account } = api.need('tableAccess');
  for (const id of alerts) expect((await readAlert(table, account, id))?.incident_id, id).toBe(incident);
}

export async function recordsComment(api: ApiClient, comment: string): Promise<void> {
  const { alerts, incidents } = api.need('dataSet');
  data(await api.merge({ alert_ids: [alerts[7]], incident_id: incidents.titled, comment }));
  const { table, account } = api.need('tableAccess');
  const comments = (await readHistory(table, account, incidents.titled)).map(({ entry }) => entry.comment);
  expect(comments).toContain(comment);
}

export const alertAndIncident = {
  'An alert is identified by 24 hexadecimal digits': refuses(MERGE, 'alert_ids', INVALID_ALERT_IDS, IDS),
  'An incident is identified by 24 hexadecimal digits': refuses(MERGE, 'incident_id', INVALID_OBJECT_IDS, IDS),
  'A member is identified by an int64, without rounding': withData(async (api, { alerts, incidents }) => {
    const body = { alert_ids: [alerts[1]], incident_id: incidents.bounds };
    for (const owner_id of [ROUNDED, -(2n ** 63n)])
      refused(await api.merge({ ...body, owner_id }), 'ResourceNotFound', String(owner_id));
    data(await api.merge({ ...body, owner_id: BIG }));
    invalid(await api.merge({ ...body, owner_id: 2n ** 63n }), 'owner_id');
  }),
  'Other fields of alert, incident and member': todo(NOT_SPECIFIED),
} satisfies Requirements;

export const mergeAlerts = {
  'POST merges alerts into an incident: they belong to it afterwards': withData(async (api, { alerts, incidents }) => {
    const merged = alerts.slice(3, 5);
    data(await api.merge({ alert_ids: merged, incident_id: incidents.target }));
    await expectAlertsIn(api, incidents.target, merged);
  }),
  'alert_ids: required array of at least one ObjectID': refuses(MERGE, 'alert_ids', INVALID_ALERT_IDS, IDS),
  'alert_ids: every id must belong to the caller’s account, or nothing is merged': withData(
    async (api, { alerts, incidents, otherAccount, unknown }) => {
      const alert = String(alerts[5]);
      for (const foreign of [otherAccount.alert, unknown]) {
        const ids = { alert_ids: [alert, foreign], incident_id: incidents.target };
        refused(await api.merge(ids), 'ResourceNotFound', foreign);
      }
      await expectAlertsIn(api, incidents.source, [alert]);
    },
  ),
  'incident_id: required, 24 hexadecimal digits in either letter case': async (api) => {
    await refuses(MERGE, 'incident_id', [undefined, ...INVALID_OBJECT_IDS], IDS)(api);
    const { alerts, incidents } = api.need('dataSet');
    data(await api.merge({ alert_ids: [alerts[6]], incident_id: incidents.target.toUpperCase() }));
  },
  'incident_id: another account’s incident does not exist': withData(async (api, { alerts, otherAccount }) =>
    refused(await api.merge({ alert_ids: [alerts[5]], incident_id: otherAccount.incident }), 'ResourceNotFound'),
  ),
  'comment: optional, at most 1024 characters': (api) => takesAtMost(api, 'comment', 1_024),
  'comment: recorded on the merge feed entry': (api) => recordsComment(api, 'same cause'),
  'title: optional, at most 512 characters': (api) => takesAtMost(api, 'title', 512),
  'title: the new title of the target incident': withData(async (api, { alerts, incidents }) => {
    data(await api.merge({ alert_ids: [alerts[8]], incident_id: incidents.titled, title: 'A new title' }));
    expect((await storedIncident(api, incidents.titled))?.title).toBe('A new title');
  }),
  'owner_id: optional int64, the member who becomes owner of the target incident': async (api) => {
    await refuses(MERGE, 'owner_id', ['7', 1.5], IDS)(api);
    const { alerts, incidents } = api.need('dataSet');
    data(await api.merge({ alert_ids: [alerts[9]], incident_id: incidents.owned, owner_id: OWNER }));
    expect((await storedIncident(api, incidents.owned))?.owner_id).toBe(OWNER);
  },
  'comment, title and owner_id are optional: without them title and owner stay': withData(
    async (api, { alerts, incidents }) => {
      data(await api.merge({ alert_ids: [alerts[10]], incident_id: incidents.source }));
      const incident = await storedIncident(api, incidents.source);
      expect([incident?.title, incident?.owner_id]).toEqual(['source', undefined]);
    },
  ),
  'data is null': async (api) => expect(data(await mergeAny(api, {}))).toBeNull(),
  'Where ids come from: /alert/list, /incident/list, /member/list': todo('the contract does not describe them'),
  'Error responses of the merge operation': todo(NOT_SPECIFIED),
} satisfies Requirements;

export const section: OperationSection = {
  heading: '4.4 Merge alerts into an incident',
  path: MERGE,
  data: { type: 'null' },
  requirements: mergeAlerts,
};
