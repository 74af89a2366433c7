import type { NewFigure } from '../report.ts';
import { measureRoundTrips } from '../round-trips.ts';

/** Rounds and calls that an operation may take, warm. */
const MOST: Readonly<Record<string, { rounds?: number; calls?: number }>> = {
  'read the RUM resource': { calls: 1 },
  'delete a work item': { calls: 1 },
  'merge 90 alerts': { rounds: 3 },
};

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  for (const { what, warm } of await measureRoundTrips(process.env.DYNAMODB_ENDPOINT)) {
    const { calls, rounds } = MOST[what] ?? {};
    add({ name: `${what}: calls`, value: warm.calls, unit: 'calls', ...(calls && { target: { most: calls } }) });
    add({ name: `${what}: rounds`, value: warm.rounds, unit: 'rounds', ...(rounds && { target: { most: rounds } }) });
    add({ name: `${what}: read`, value: warm.read, unit: 'units' });
    add({ name: `${what}: write`, value: warm.write, unit: 'units' });
  }
}
