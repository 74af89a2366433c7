import { describe, expect, it } from 'vitest';
import { expectEnvelope } from '../support/answers.ts';
import { expectTrueFeeds, newAccount } from '../support/incidents.ts';
import { connectAgain, handlersOver, newTable, testDeps } from '../support/service.ts';

const table = await newTable();

/** Small transactions, so that few alerts take several of them. */
const TRANSACTION_ITEMS = 12;

/** The handler of another instance of the function, with its own client and caches. */
const instance = () => handlersOver(testDeps(connectAgain(table)), { transactionItems: TRANSACTION_ITEMS }).mergeAlerts;

describe('merges that share alerts', () => {
  it.each([1, 2, 3])('over the same 36 alerts end in the incident of the later one, never split (%i)', async () => {
    const tenant = await newAccount(table);
    const start = await tenant.incident();
    const [one, other] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(36, start);
    const answers = await Promise.all(
      [one, other].map((incident_id) => tenant.merge(instance(), { alert_ids: alerts, incident_id })),
    );
    for (const answer of answers) expectEnvelope(answer, 200);
    for (const id of [one, other]) await tenant.finish(id, TRANSACTION_ITEMS);
    const entries = await expectTrueFeeds(tenant, [one, other], alerts, start);
    expect(entries).toHaveLength(2);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([entries.at(-1).incident_id]));
  });

  it('of every size, concurrently, leave feeds that are correct for every alert', async () => {
    const tenant = await newAccount(table);
    const incidents = await Promise.all(Array.from({ length: 4 }, () => tenant.incident()));
    const alerts = await tenant.alerts(40);
    const sizes = [3, 40, 7, 1, 20, 5];
    const answers = await Promise.all(
      sizes.map((size, index) =>
        tenant.merge(instance(), {
          alert_ids: alerts.slice(index, index + size),
          incident_id: incidents[index % incidents.length],
          title: `Title ${index}`,
        }),
      ),
    );
    for (const answer of answers) expectEnvelope(answer, 200);
    for (const id of incidents) await tenant.finish(id, TRANSACTION_ITEMS);
    expect(await expectTrueFeeds(tenant, incidents, alerts)).toHaveLength(sizes.length);
    expect(await tenant.pending()).toEqual([]);
  });

  it('into one incident give it the title of the later one, and each entry records the previous title', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident({ title: 'Start' });
    const alerts = await tenant.alerts(6);
    const answers = await Promise.all(
      alerts.map((id, index) =>
        tenant.merge(instance(), { alert_ids: [id], incident_id: to, title: `Title ${index}` }),
      ),
    );
    for (const answer of answers) expectEnvelope(answer, 200);
    const feed = await tenant.feed(to);
    let title = 'Start';
    for (const { old_title, new_title } of feed) {
      expect(old_title).toBe(title);
      title = new_title;
    }
    expect(await tenant.incidentRow(to)).toMatchObject({ title });
  });
});
