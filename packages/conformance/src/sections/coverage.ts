import { expect } from 'vitest';
import { data } from '../answers.ts';
import { STATUSES } from '../contract.ts';
import { HOSTS, hostsWhere } from '../hosts.ts';
import { type Requirements, withData } from '../requirement.ts';
import { ALL, type Item, wholeFleet } from './common.ts';

const FIRST = { limit: 3, scan_limit: HOSTS.length, edge_clusters: ['core-b'] };
const NO_STATES = Object.fromEntries(STATUSES.map((status) => [status, 0]));

export const coverage = {
  'scanned: distinct candidates examined in this request': withData(async (api) => {
    const { coverage, next_cursor } = data(await api.page({ limit: 1, scan_limit: 7, edge_clusters: ['nowhere'] }));
    expect([coverage.scanned, typeof next_cursor], 'scanned and next_cursor').toEqual([7, 'string']);
  }),
  'matched: scanned hosts that passed all filters': withData(async (api) => {
    const matching = hostsWhere(({ host }) => host.edge_cluster === 'core-b' && host.agent_version === '2.1');
    const { coverage } = data(await api.page({ ...ALL, edge_clusters: ['core-b'], agent_versions: ['2.1'] }));
    expect(coverage.matched).toBe(matching.length);
  }),
  'returned: matched hosts in this page, at most limit': withData(async (api) => {
    const { items, coverage } = data(await api.page(FIRST));
    expect([items.length, coverage.returned]).toEqual([FIRST.limit, FIRST.limit]);
  }),
  'failed: candidates whose status could not be read': async (api) => {
    expect((await wholeFleet(api)).coverage.failed).toBe(0);
    const url = await api.need('defective')('live-status');
    const { coverage } = data(await api.fleet({ limit: 2, scan_limit: 9, edge_clusters: ['core-c'] }, { url }));
    expect(coverage.failed, 'candidates of an outage').toBe(coverage.scanned);
  },
  'states: returned items by status, always with all seven keys': async (api) => {
    const { items, coverage } = await wholeFleet(api);
    const count = (status: string) => items.filter(({ servicemap }: Item) => servicemap.status === status).length;
    expect(coverage.states).toEqual(Object.fromEntries(STATUSES.map((status) => [status, count(status)])));
    const one = data(await api.page({ limit: 1 })).coverage;
    expect(one.states, 'states of one host').toEqual({ ...NO_STATES, active: 1 });
  },
  'All five fields are required': async (api) => {
    const { coverage } = data(await api.page({ limit: 1 }));
    expect(Object.keys(coverage).sort()).toEqual(['failed', 'matched', 'returned', 'scanned', 'states']);
  },
  'coverage describes this page alone, not the account': withData(async (api) => {
    const cursor = data(await api.fleet(FIRST)).next_cursor;
    const { items, coverage } = data(await api.fleet({ ...FIRST, cursor }));
    const hosts = hostsWhere(({ host }) => host.edge_cluster === 'core-b').length;
    expect(coverage.returned).toBe(Math.min(FIRST.limit, hosts - FIRST.limit));
    const states: number[] = Object.values(coverage.states);
    expect(
      states.reduce((sum, state) => sum + state),
      'sum of the states',
    ).toBe(items.length);
  }),
} satisfies Requirements;
