import { expect, it } from 'vitest';
import { expectEnvelope } from '../support/answers.ts';
import { expectTrueFeeds, newAccount } from '../support/incidents.ts';
import { connectAgain, handlersOver, newTable, testDeps } from '../support/service.ts';

/** Small transactions, so that few alerts take several of them. */
const TRANSACTION_ITEMS = 12;
/** Number of alerts of each merge. Merges of 40 take all alerts, the others take overlapping parts. */
const SIZES = [40, 40, 3, 7, 1, 20, 5];

it.each([1, 2, 3])('concurrent merges leave shared alerts where the feeds, read in order, lead to (%i)', async () => {
  const table = await newTable();
  const tenant = await newAccount(table);
  const start = await tenant.incident();
  const alerts = await tenant.alerts(40, start);
  const incidents = await Promise.all(Array.from({ length: 4 }, () => tenant.incident({ title: 'Start' })));
  const answers = await Promise.all(
    SIZES.map((size, index) => {
      // Each with a client and caches of its own.
      const { mergeAlerts } = handlersOver(testDeps(connectAgain(table)), { transactionItems: TRANSACTION_ITEMS });
      const alert_ids = alerts.slice(size === 40 ? 0 : index, index + size);
      return tenant.merge(mergeAlerts, { alert_ids, incident_id: incidents[index % 4], title: `Title ${index}` });
    }),
  );
  for (const answer of answers) expectEnvelope(answer, 200);
  for (const id of incidents) await tenant.finish(id, TRANSACTION_ITEMS);
  expect(await expectTrueFeeds(tenant, incidents, alerts, start)).toHaveLength(SIZES.length);
  expect(await tenant.pending()).toEqual([]);
  for (const id of incidents) {
    let title = 'Start';
    for (const { old_title, new_title } of await tenant.feed(id)) {
      expect(old_title).toBe(title);
      title = new_title;
    }
    expect(await tenant.incidentRow(id)).toMatchObject({ title });
  }
});
