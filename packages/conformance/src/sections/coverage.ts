import { STATUSES } from '../contract.ts';
import { data, equal, holds } from '../expect.ts';
import { HOSTS, hostsWhere } from '../hosts.ts';
import { section, shown, shownOnData } from '../sentence.ts';
import { certifiedPage, type Item } from './fleet-host.ts';

const FIRST = { limit: 3, scan_limit: HOSTS.length, edge_clusters: ['core-b'] };

export const coverage = section('2.3', 'Fleet coverage (coverage)', [
  shownOnData('scanned: distinct candidates examined in this request', async (t) => {
    const { coverage, next_cursor } = data(await t.page({ limit: 1, scan_limit: 7, edge_clusters: ['nowhere'] }));
    equal(coverage.scanned, 7, 'scanned of a scan that ends at scan_limit 7');
    holds(next_cursor !== undefined, 'next_cursor');
  }),
  shownOnData('matched: scanned hosts that passed all filters', async (t) => {
    const body = { limit: HOSTS.length, scan_limit: HOSTS.length, edge_clusters: ['core-b'], agent_versions: ['2.1'] };
    const matching = hostsWhere(({ host }) => host.edge_cluster === 'core-b' && host.agent_version === '2.1');
    equal(data(await t.page(body)).coverage.matched, matching.length, 'matched');
  }),
  shownOnData('returned: matched hosts in this page, at most limit', async (t) => {
    const { items, coverage } = data(await t.page(FIRST));
    equal([items.length, coverage.returned], [FIRST.limit, FIRST.limit], 'hosts and returned');
  }),
  shown('failed: candidates whose status could not be read', async (t) => {
    equal((await certifiedPage(t)).coverage.failed, 0, 'failed');
    const url = await t.need('impaired')('live-status');
    const body = { limit: 2, scan_limit: 9, edge_clusters: ['core-c'] };
    const { coverage } = data(await t.fleet(body, { url }));
    equal(coverage.failed, coverage.scanned, 'failed of a scan whose live status cannot be read');
  }),
  shown('states: returned items by status, always with all seven keys', async (t) => {
    const { items, coverage } = await certifiedPage(t);
    const count = (status: string) => items.filter(({ servicemap }: Item) => servicemap.status === status).length;
    equal(coverage.states, Object.fromEntries(STATUSES.map((status) => [status, count(status)])), 'states');
    const { coverage: one } = data(await t.page({ limit: 1 }));
    equal(
      one.states,
      { ...Object.fromEntries(STATUSES.map((status) => [status, 0])), active: 1 },
      'states of one host',
    );
  }),
  shown('All five fields are required', async (t) => {
    const { coverage } = data(await t.page({ limit: 1 }));
    equal(Object.keys(coverage).sort(), ['failed', 'matched', 'returned', 'scanned', 'states'], 'fields');
  }),
  shownOnData('coverage describes this page alone, not the account', async (t) => {
    const first = await t.page(FIRST);
    const cursor = data(first).next_cursor;
    const second = data(await t.fleet({ ...FIRST, cursor }, { as: first.caller }));
    const hosts = hostsWhere(({ host }) => host.edge_cluster === 'core-b').length;
    equal(second.coverage.returned, Math.min(FIRST.limit, hosts - FIRST.limit), 'returned of the second page');
    const states = Object.values(second.coverage.states as Record<string, number>).reduce((sum, one) => sum + one, 0);
    equal(states, second.items.length, 'sum of states of the second page');
  }),
]);
