import type { NewFigure } from '../report.ts';
import { measureRoundTrips } from '../round-trips.ts';

/** Maximum units and rounds of a warm call of each operation. */
const MOST: Readonly<Record<string, { rounds?: number; calls?: number; read?: number }>> = {
  // One of the rounds is for the rate limit.
  'browse, page of 50': { rounds: 2, calls: 3, read: 6 },
  'browse, 2,000 hosts examined': { rounds: 3, calls: 5, read: 120 },
  'read the RUM resource': { calls: 1 },
  'delete a work item': { calls: 1 },
  'merge 90 alerts': { rounds: 3 },
};

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  for (const { what, warm } of await measureRoundTrips(process.env.DYNAMODB_ENDPOINT)) {
    const target = (name: 'calls' | 'rounds' | 'read') => {
      const most = MOST[what]?.[name];
      return most === undefined ? {} : { target: { most } };
    };
    add({ name: `${what}: calls`, value: warm.calls, unit: 'calls', ...target('calls') });
    add({ name: `${what}: rounds`, value: warm.rounds, unit: 'rounds', ...target('rounds') });
    add({ name: `${what}: read`, value: warm.read, unit: 'units', ...target('read') });
    add({ name: `${what}: write`, value: warm.write, unit: 'units' });
  }
}
