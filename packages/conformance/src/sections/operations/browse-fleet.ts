import { expect } from 'vitest';
import { data, invalid, refused } from '../../answers.ts';
import { type ApiClient, FLEET } from '../../api-client.ts';
import { fleetPage } from '../../contract.ts';
import { type Filter, HOSTS, LARGE_FLEET, matching } from '../../hosts.ts';
import { all, type Check, type OperationSection, type Requirements, todo, withData } from '../../requirement.ts';
import {
  ALL,
  finds,
  INTERNAL_ERROR,
  idsOf,
  needsKey,
  needsPermission,
  RATE_LIMITED,
  refuses,
  wholeFleet,
} from '../common.ts';
import { coverage } from '../fleet.ts';

/** A page of the whole fleet, which is larger than the default of scan_limit. */
async function largeFleetPage(api: ApiClient, body: object) {
  api.need('dataSet');
  return data(await api.page(body));
}

const many = (count: number, value: string) => Array.from({ length: count }, () => value);

/**
 * Filters by one value, and by two. Some hosts have an agent version or cluster that begins with the value of the filter: a prefix must not
 * match.
 */
const findsAny = (filter: keyof Filter, first: string, second: string) =>
  finds({ [filter]: [first] }, { [filter]: [first, second] });

const takesAtMost20 = (filter: keyof Filter, value: string) =>
  all(refuses(FLEET, filter, [many(21, value), [1], 'x']), finds({ [filter]: many(20, value) }));

const failsWith503 =
  (defect: 'no service map' | 'inventory'): Check =>
  async (api) => {
    const url = await api.need('startDefective')(defect);
    // A 429 is retried, since other checks may browse the fleet of the same account in this second.
    refused(await api.fleet({ limit: 1 }, { url, retried: [429] }), 'ServiceUnavailable');
  };

const BAD_MODES = [['none'], ['EBPF'], many(4, 'ebpf'), 'ebpf'];
const TRUNCATED = { limit: 2, scan_limit: 4, edge_clusters: ['core-b'] };

export const browseFleet = {
  'POST /monit/servicemap/fleet lists hosts, filtered and page by page': finds({ statuses: ['stale'] }),
  'Needs the permission Targets Read (monit)': needsPermission,

  'No field of the request is required': async (api) => {
    const { items, coverage } = data(await api.page());
    expect(coverage.returned).toBe(items.length);
  },
  'cursor: left out for the first page, then the next_cursor of the page before': async (api) => {
    const { items, next_cursor: cursor } = data(await api.fleet({ limit: 2 }));
    if (api.environment.dataSet) expect(idsOf(items), 'first page').toEqual(matching().slice(0, 2));
    if (cursor === undefined) return;
    const second = idsOf(data(await api.fleet({ limit: 2, cursor })).items);
    for (const id of idsOf(items)) expect(second, 'second page').not.toContain(id);
    if (api.environment.dataSet) expect(second, 'second page').toEqual(matching().slice(2, 4));
  },
  'Cursors lead to every host once, and to no host twice': withData(async (api) => {
    const seen: string[] = [];
    for (let cursor: string | undefined; seen.length < HOSTS.length; ) {
      const { items, next_cursor } = data(await api.fleet({ limit: 5, cursor }));
      expect(items.length, 'hosts of a page').toBeGreaterThan(0);
      seen.push(...idsOf(items));
      cursor = next_cursor;
    }
    expect(seen.slice(0, HOSTS.length)).toEqual(matching());
  }),
  'limit: 50 when it is left out': async (api) => expect((await largeFleetPage(api, {})).items).toHaveLength(50),
  'limit: integer from 1 to 100': async (api) => {
    await refuses(FLEET, 'limit', [0, 101, -1, 1.5, '50', null])(api);
    expect(data(await api.page({ limit: 1 })).items.length).toBeLessThanOrEqual(1);
    if (!api.environment.dataSet) return;
    expect((await largeFleetPage(api, { limit: 100 })).items).toHaveLength(100);
  },
  'limit: maximum number of matching hosts in the page': withData(async (api) => {
    const { items } = data(await api.page({ ...ALL, limit: 3, edge_clusters: ['core-b'] }));
    expect(idsOf(items)).toEqual(matching({ edge_clusters: ['core-b'] }).slice(0, 3));
  }),
  'scan_limit: 1000 when it is left out': async (api) =>
    expect((await largeFleetPage(api, { edge_clusters: ['nowhere'] })).coverage.scanned).toBe(1_000),
  'scan_limit: integer from limit to 2000': async (api) => {
    await refuses(FLEET, 'scan_limit', [2_001, 0, '60', 49])(api);
    invalid(await api.call(FLEET, { limit: 10, scan_limit: 9 }), 'scan_limit');
    data(await api.page({ limit: 7, scan_limit: 7 }));
    if (!api.environment.dataSet) return;
    const { coverage } = await largeFleetPage(api, { edge_clusters: ['nowhere'], scan_limit: 2_000 });
    expect(coverage.scanned).toBe(LARGE_FLEET);
  },
  'scan_limit: maximum number of candidates examined':
    coverage['scanned: distinct candidates examined in this request'],
  'statuses: hosts in any of the given states': finds(
    { statuses: ['active', 'stale'] },
    { statuses: ['degraded', 'initializing'] },
    { statuses: ['disabled', 'unsupported', 'no_data'] },
  ),
  'statuses: the seven values and no other, at most 20': all(
    refuses(FLEET, 'statuses', [['running'], ['Active'], many(21, 'stale'), 'active', [null]]),
    finds({ statuses: many(20, 'stale') }),
  ),
  'agent_versions: exact values, of which any may match': findsAny('agent_versions', '2.0', '2.1'),
  'agent_versions: array of strings, at most 20': takesAtMost20('agent_versions', '2.0'),
  'edge_clusters: exact values, of which any may match': findsAny('edge_clusters', 'core', 'core-c'),
  'edge_clusters: array of strings, at most 20': takesAtMost20('edge_clusters', 'core'),
  'capture_modes: hosts with any of the given modes': findsAny('capture_modes', 'polling', 'ebpf'),
  'capture_modes: unknown matches hosts that have not reported one': finds({ capture_modes: ['unknown'] }),
  'capture_modes: ebpf, polling, unknown and no other, at most 3': refuses(FLEET, 'capture_modes', BAD_MODES),
  'The form of a cursor': todo('the contract leaves it open: opaque'),

  'items: the matching hosts of the page': finds({}),
  'coverage: that of the scan that produced this page': async (api) => {
    const { coverage, items } = await wholeFleet(api);
    const { length } = items;
    expect(coverage).toMatchObject({ scanned: length, matched: length, returned: length });
  },
  'partial: true if a host’s status could not be read, or the scan was truncated': async (api) => {
    expect((await wholeFleet(api)).partial, 'partial of a whole page').toBe(false);
    expect(data(await api.page(TRUNCATED)).partial, 'partial of a truncated scan').toBe(true);
    const url = await api.need('startDefective')('live-status');
    expect(data(await api.fleet({ limit: 1 }, { url })).partial, 'partial in an outage of the live status').toBe(true);
  },
  'truncated: true if scan_limit was reached before limit matches were found': withData(async (api) => {
    expect(data(await api.page(TRUNCATED)).truncated).toBe(true);
    expect(data(await api.page({ limit: 4, scan_limit: 4 })).truncated, 'truncated of a full page').toBe(false);
  }),
  'truncation_reasons: there when truncated is true': withData(async (api) => {
    expect(data(await api.page(TRUNCATED)).truncation_reasons?.length).toBeGreaterThan(0);
    expect(await wholeFleet(api)).not.toHaveProperty('truncation_reasons');
  }),
  'next_cursor: absent when no candidates remain': withData(async (api) => {
    const last = data(await api.page({ limit: 100, scan_limit: 2_000, edge_clusters: ['core-c'] }));
    expect(last, 'the last page').not.toHaveProperty('next_cursor');
    expect(data(await api.page({ limit: 2 })), 'a page before the last').toHaveProperty('next_cursor');
  }),
  'generated_at_ms: Unix milliseconds of the answer': async (api) => {
    const answer = await api.fleet({ limit: 1 });
    const milliseconds = data(answer).generated_at_ms - Date.parse(answer.headers.get('date') ?? '');
    // The header Date has whole seconds.
    expect(milliseconds, 'generated_at_ms after Date').toBeGreaterThan(-1_500);
    expect(milliseconds, 'generated_at_ms after Date').toBeLessThan(2_500);
  },

  'Rule 1: a truncated page still has a next_cursor, and is not the end': withData(async (api) => {
    const body = { limit: 1, scan_limit: 3, edge_clusters: ['core-b'] };
    const { items, truncated, next_cursor: cursor } = data(await api.fleet(body));
    expect([items, truncated], 'items and truncated').toEqual([[], true]);
    const next = data(await api.fleet({ ...body, cursor })).items;
    expect(idsOf(next), 'next page').toEqual(matching({ edge_clusters: ['core-b'] }).slice(0, 1));
  }),
  'Rule 2: without the live store the page comes from the inventory, with error_code and partial': withData(
    async (api) => {
      const url = await api.need('startDefective')('live-status');
      const { items, partial, coverage } = data(await api.fleet({ ...ALL, agent_versions: ['2.1'] }, { url }));
      expect(idsOf(items)).toEqual(matching({ agent_versions: ['2.1'] }));
      expect([partial, coverage.failed], 'partial and failed').toEqual([true, coverage.scanned]);
      for (const { servicemap } of items) expect(servicemap.error_code).toBe('status_unavailable');
    },
  ),
  'Rule 2: the other four ServiceMap reads fail as a whole': todo('the contract does not describe them'),
  'Rule 3: a cursor that the service did not issue is refused': async (api) => {
    const { next_cursor = 'AAAA' } = data(await api.page({ limit: 2 }));
    for (const cursor of ['x', matching()[0], `${next_cursor}A`, next_cursor.slice(1)])
      refused(await api.call(FLEET, { cursor }), 'InvalidParameter');
  },
  'Rule 4: 400 InvalidParameter': refuses(FLEET, 'limit', [0]),
  'Rule 4: 401 Unauthorized': needsKey,
  'Rule 4: 429 RequestTooFrequently': RATE_LIMITED,
  'Rule 4: 500 InternalError': INTERNAL_ERROR,
  'Rule 4: 503 ServiceUnavailable when the subsystem is not enabled': failsWith503('no service map'),
  'Rule 4: 503 ServiceUnavailable when the subsystem is not reachable': failsWith503('inventory'),
} satisfies Requirements;

export const section: OperationSection = {
  heading: '4.1 Browse service map fleet hosts',
  path: FLEET,
  permission: 'monit',
  data: fleetPage,
  requirements: browseFleet,
};
