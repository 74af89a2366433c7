/** What each operation uses of DynamoDB, for rows of the usual size, with a key that is not cached. */
import { DEMO_KEYS, sampleData, sampleId } from '../../infra/local/sample.ts';
import { browseFleet, deleteWorkItem, getRumResource, mergeAlerts } from '../../lib/api/operations.ts';
import { accountLines, fleetLines } from '../fleet-data.ts';
import type { NewFigure } from '../report.ts';
import { countUnits, startBenchService } from '../service.ts';

const BULK = 'bulk';

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const alerts = Array.from({ length: 1_000 }, (_, index) => sampleId(`bulk alert ${index}`));
  const service = await startBenchService([
    ...sampleData(Date.now()),
    ...alerts.map((alert_id) =>
      JSON.stringify({ kind: 'alert', account_id: 1, alert_id, title: 'p99 above threshold' }),
    ),
    ...accountLines(3, BULK),
    ...fleetLines(3, 2_000, Date.now()),
  ]);
  const count = countUnits(service.table);
  const incident_id = sampleId('incident 0');
  const merge = (from: number, to: number) => ({ alert_ids: alerts.slice(from, to), incident_id });
  const rows = [
    ['fleet browse, page of 50', browseFleet, {}, BULK],
    ['fleet browse, 2,000 examined', browseFleet, { scan_limit: 2_000, edge_clusters: ['none'] }, BULK],
    ['RUM resource, record not cached', getRumResource, {}],
    ['delete a work item', deleteWorkItem, { work_item_id: 'wi-1001', version: 1 }],
    ['merge 1 alert', mergeAlerts, merge(0, 1)],
    ['merge 10 alerts', mergeAlerts, merge(1, 11)],
    ['merge 90 alerts', mergeAlerts, merge(11, 101)],
    ['merge 899 alerts', mergeAlerts, merge(101, 1_000)],
  ] as const;
  try {
    for (const [what, operation, body, key = DEMO_KEYS.demo] of rows) {
      service.stepClock();
      const used = await count(() => service.call(operation, key, body));
      add({ name: `${what}: calls`, value: used.calls, unit: 'calls' });
      add({ name: `${what}: rounds`, value: used.rounds, unit: 'rounds' });
      add({ name: `${what}: read`, value: used.read, unit: 'units' });
      add({ name: `${what}: write`, value: used.write, unit: 'units' });
    }
  } finally {
    await service.stop();
  }
}
