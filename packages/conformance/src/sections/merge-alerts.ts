import { readAlert, readFeed, readIncident } from '../../../../lib/operations/merge-alerts/read-incidents.ts';
import { OWNER } from '../data.ts';
import { data, equal, holds, invalid, refused } from '../expect.ts';
import { NOT_SHOWN, open, section, shown, shownOnData } from '../sentence.ts';
import type { Trial } from '../trial.ts';

const VALID = 'a'.repeat(24);
/** A character outside the Basic Multilingual Plane: two UTF-16 units, one code point. */
const WIDE = '😀';

/** A merge into the incident that is kept for bounds, where the alert may stay. */
const bounded = (t: Trial, more: object) => {
  const { alerts, incidents } = t.need('entities');
  return t.merge({ alert_ids: [alerts[2]], incident_id: incidents.bounds, ...more });
};

/** A text field takes this many characters and no more. */
async function takesAtMost(t: Trial, field: string, most: number): Promise<void> {
  const ids = { alert_ids: [VALID], incident_id: VALID };
  invalid(await t.merge({ ...ids, [field]: 'x'.repeat(most + 1) }), field);
  invalid(await t.merge({ ...ids, [field]: 7 }), field);
  refused(await t.merge({ ...ids, [field]: 'x'.repeat(most) }), 'ResourceNotFound');
  if (!t.lab.entities) return;
  data(await bounded(t, { [field]: 'x'.repeat(most) }));
  data(await bounded(t, { [field]: WIDE.repeat(most) }));
}

async function feedOf(t: Trial, incident: string) {
  const { table, account } = t.need('stored');
  const entries = (await readFeed(table, account, incident)).map(({ entry }) => entry);
  return { incident: await readIncident(table, account, incident), entries };
}

export const mergeAlerts = section('4.4', 'Merge alerts into an incident', [
  shownOnData('POST merges alerts into an incident: they belong to it afterwards', async (t, { alerts, incidents }) => {
    const merged = alerts.slice(3, 5);
    data(await t.merge({ alert_ids: merged, incident_id: incidents.target }));
    const { table, account } = t.need('stored');
    for (const id of merged)
      equal((await readAlert(table, account, id))?.incident_id, incidents.target, `incident of alert ${id}`);
  }),
  shown('alert_ids: required array of at least one ObjectID', async (t) => {
    invalid(await t.merge({ incident_id: VALID }), 'alert_ids');
    for (const alert_ids of [[], VALID, ['x'], [1], null])
      invalid(await t.merge({ alert_ids, incident_id: VALID }), 'alert_ids');
  }),
  shown('alert_ids: every id must belong to the caller’s account, or nothing is merged', async (t) => {
    const { alerts, incidents, otherAccount, unknown } = t.need('entities');
    for (const foreign of [otherAccount.alert, unknown]) {
      const ids = { alert_ids: [alerts[5], foreign], incident_id: incidents.target };
      refused(await t.merge(ids), 'ResourceNotFound', foreign);
    }
    const { table, account } = t.need('stored');
    equal((await readAlert(table, account, alerts[5] ?? ''))?.incident_id, incidents.source, 'incident of the alert');
  }),
  shown('incident_id: required, 24 hexadecimal digits in either letter case', async (t) => {
    invalid(await t.merge({ alert_ids: [VALID] }), 'incident_id');
    for (const incident_id of ['x', 'a'.repeat(25), 'g'.repeat(24), 1])
      invalid(await t.merge({ alert_ids: [VALID], incident_id }), 'incident_id');
    const { alerts, incidents } = t.need('entities');
    data(await t.merge({ alert_ids: [alerts[6]], incident_id: incidents.target.toUpperCase() }));
  }),
  shownOnData('incident_id: another account’s incident does not exist', async (t, { alerts, otherAccount }) => {
    const ids = { alert_ids: [alerts[5]], incident_id: otherAccount.incident };
    refused(await t.merge(ids), 'ResourceNotFound');
  }),
  shown('comment: optional, at most 1024 characters', (t) => takesAtMost(t, 'comment', 1_024)),
  shownOnData('comment: recorded on the merge feed entry', async (t, { alerts, incidents }) => {
    data(await t.merge({ alert_ids: [alerts[7]], incident_id: incidents.titled, comment: 'same cause' }));
    const { entries } = await feedOf(t, incidents.titled);
    holds(
      entries.some(({ comment }) => comment === 'same cause'),
      'the comment on the feed',
      entries,
    );
  }),
  shown('title: optional, at most 512 characters', (t) => takesAtMost(t, 'title', 512)),
  shownOnData('title: the new title of the target incident', async (t, { alerts, incidents }) => {
    data(await t.merge({ alert_ids: [alerts[8]], incident_id: incidents.titled, title: 'A new title' }));
    equal((await feedOf(t, incidents.titled)).incident?.title, 'A new title', 'title');
  }),
  shown('owner_id: optional int64, the member who becomes owner of the target incident', async (t) => {
    for (const owner_id of ['7', 1.5])
      invalid(await t.merge({ alert_ids: [VALID], incident_id: VALID, owner_id }), 'owner_id');
    const { alerts, incidents } = t.need('entities');
    data(await t.merge({ alert_ids: [alerts[9]], incident_id: incidents.owned, owner_id: OWNER }));
    equal((await feedOf(t, incidents.owned)).incident?.owner_id, OWNER, 'owner_id');
  }),
  shownOnData('comment, title and owner_id may be left out: title and owner stay', async (t, { alerts, incidents }) => {
    data(await t.merge({ alert_ids: [alerts[10]], incident_id: incidents.source }));
    const { incident } = await feedOf(t, incidents.source);
    equal([incident?.title, incident?.owner_id], ['source', undefined], 'title and owner_id');
  }),
  shown('data is null', async (t) => equal(data(await bounded(t, {})), null, 'data')),
  open('Where ids come from: /alert/list, /incident/list, /member/list', 'the contract does not describe them'),
  open('Error responses of the merge operation', NOT_SHOWN),
]);
