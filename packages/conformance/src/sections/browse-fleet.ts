import { data, equal, holds, invalid, refused } from '../expect.ts';
import { type CertifiedHost, HOST_IDS, HOSTS, hostsWhere, LARGE_FLEET } from '../hosts.ts';
import { NOT_SHOWN, open, type Sentence, section, shown, shownOnData } from '../sentence.ts';
import { FLEET, type Trial } from '../trial.ts';
import { certifiedPage, type Item } from './fleet-host.ts';

const ALL = { limit: HOSTS.length, scan_limit: HOSTS.length };
const idsOf = (items: Item[]): string[] => items.map(({ host_id }) => host_id);
/** The fleet that reaches the default of scan_limit is that of the main caller. */
const large = async (t: Trial, body: object) => data(await t.fleet(body, { as: t.lab.main }));

/** Expects every given value to be refused, with a message that names the field. */
async function refusesEach(t: Trial, field: string, values: readonly unknown[]): Promise<void> {
  for (const value of values) invalid(await t.call(FLEET, { [field]: value }), field);
}

/** Expects a filter to find exactly the right hosts. */
async function finds(t: Trial, filter: object, is: (host: CertifiedHost) => boolean): Promise<void> {
  t.need('entities');
  equal(idsOf(data(await t.page({ ...ALL, ...filter })).items), hostsWhere(is), `hosts with ${JSON.stringify(filter)}`);
}

const many = (count: number, value: string) => Array.from({ length: count }, () => value);

const textFilter = (
  field: 'agent_versions' | 'edge_clusters',
  of: 'agent_version' | 'edge_cluster',
  two: [string, string],
) => [
  shown(`${field}: exact values, of which any may match`, async (t) => {
    await finds(t, { [field]: two.slice(0, 1) }, ({ host }) => host[of] === two[0]);
    await finds(t, { [field]: two }, ({ host }) => two.includes(host[of]));
  }),
  shown(`${field}: array of strings, at most 20`, async (t) => {
    await refusesEach(t, field, [many(21, two[0]), [1], 'x']);
    await finds(t, { [field]: many(20, two[0]) }, ({ host }) => host[of] === two[0]);
  }),
];

const requestFields: Sentence[] = [
  shown('No field of the request is required', async (t) => {
    const { items, coverage } = data(await t.page());
    equal(coverage.returned, items.length, 'returned');
  }),
  shown('cursor: left out for the first page, then the next_cursor of the page before', async (t) => {
    const first = await t.page({ limit: 2 });
    const { items, next_cursor } = data(first);
    if (t.lab.entities) equal(idsOf(items), HOST_IDS.slice(0, 2), 'first page');
    if (next_cursor === undefined) return;
    const second = data(await t.fleet({ limit: 2, cursor: next_cursor }, { as: first.caller }));
    holds(
      idsOf(second.items).every((id) => !idsOf(items).includes(id)),
      'other hosts on the second page',
      idsOf(second.items),
    );
    if (t.lab.entities) equal(idsOf(second.items), HOST_IDS.slice(2, 4), 'second page');
  }),
  shownOnData('Cursors lead to every host once, and to no host twice', async (t) => {
    const seen: string[] = [];
    let page = await t.page({ limit: 5 });
    while (seen.push(...idsOf(data(page).items)) < HOSTS.length)
      page = await t.fleet({ limit: 5, cursor: data(page).next_cursor }, { as: page.caller });
    equal(seen.slice(0, HOSTS.length), HOST_IDS, 'hosts');
  }),
  shownOnData('limit: 50 when it is left out', async (t) => {
    equal((await large(t, {})).items.length, 50, 'hosts');
  }),
  shown('limit: integer from 1 to 100', async (t) => {
    await refusesEach(t, 'limit', [0, 101, -1, 1.5, '50', null]);
    if (t.lab.entities) equal((await large(t, { limit: 100 })).items.length, 100, 'hosts');
    holds(data(await t.page({ limit: 1 })).items.length <= 1, 'a page of one host');
  }),
  shownOnData('limit: the most matching hosts in the page', async (t) => {
    const { items } = data(await t.page({ limit: 3, scan_limit: HOSTS.length, edge_clusters: ['core-b'] }));
    equal(idsOf(items), hostsWhere(({ host }) => host.edge_cluster === 'core-b').slice(0, 3), 'hosts');
  }),
  shownOnData('scan_limit: 1000 when it is left out', async (t) => {
    equal((await large(t, { edge_clusters: ['nowhere'] })).coverage.scanned, 1_000, 'scanned');
  }),
  shown('scan_limit: integer from limit to 2000', async (t) => {
    await refusesEach(t, 'scan_limit', [2_001, 0, '60', 49]);
    invalid(await t.call(FLEET, { limit: 10, scan_limit: 9 }), 'scan_limit');
    data(await t.page({ limit: 7, scan_limit: 7 }));
    if (!t.lab.entities) return;
    equal((await large(t, { edge_clusters: ['nowhere'], scan_limit: 2_000 })).coverage.scanned, LARGE_FLEET, 'scanned');
  }),
  shownOnData('scan_limit: the most candidates examined', async (t) => {
    const { coverage } = data(await t.page({ limit: 1, scan_limit: 7, edge_clusters: ['nowhere'] }));
    equal(coverage.scanned, 7, 'scanned');
  }),
  shown('statuses: hosts in any of the given states', async (t) => {
    for (const statuses of [
      ['active', 'stale'],
      ['degraded', 'initializing'],
      ['disabled', 'unsupported', 'no_data'],
    ])
      await finds(t, { statuses }, ({ status }) => statuses.includes(status));
  }),
  shown('statuses: the seven values and no other, at most 20', async (t) => {
    await refusesEach(t, 'statuses', [['running'], ['Active'], many(21, 'stale'), 'active', [null]]);
    await finds(t, { statuses: many(20, 'stale') }, ({ status }) => status === 'stale');
  }),
  ...textFilter('agent_versions', 'agent_version', ['2.0', '2.1']),
  ...textFilter('edge_clusters', 'edge_cluster', ['core', 'core-c']),
  shown('capture_modes: hosts with any of the given modes', async (t) => {
    await finds(t, { capture_modes: ['polling'] }, ({ host }) => host.capture_mode === 'polling');
    await finds(t, { capture_modes: ['ebpf', 'polling'] }, ({ host }) => host.capture_mode !== undefined);
  }),
  shown('capture_modes: unknown matches hosts that have not reported one', (t) =>
    finds(t, { capture_modes: ['unknown'] }, ({ host }) => host.capture_mode === undefined),
  ),
  shown('capture_modes: ebpf, polling, unknown and no other, at most 3', (t) =>
    refusesEach(t, 'capture_modes', [['none'], ['EBPF'], many(4, 'ebpf'), 'ebpf']),
  ),
];

const TRUNCATED = { limit: 2, scan_limit: 4, edge_clusters: ['core-b'] };

const responseFields: Sentence[] = [
  shown('items: the matching hosts of the page', async (t) => {
    equal(idsOf((await certifiedPage(t)).items), HOST_IDS, 'hosts');
  }),
  shown('coverage: that of the scan which made this page', async (t) => {
    const { coverage, items } = await certifiedPage(t);
    equal([coverage.scanned, coverage.matched, coverage.returned], Array(3).fill(items.length), 'coverage');
  }),
  shown('partial: true if a host’s status could not be read, or the scan was truncated', async (t) => {
    equal((await certifiedPage(t)).partial, false, 'partial of a whole page');
    equal(data(await t.page(TRUNCATED)).partial, true, 'partial of a truncated scan');
    const url = await t.need('impaired')('live-status');
    equal(data(await t.fleet({ limit: 1 }, { url })).partial, true, 'partial of a page whose live status failed');
  }),
  shownOnData('truncated: true if scan_limit was reached before limit matches were found', async (t) => {
    equal(data(await t.page(TRUNCATED)).truncated, true, 'truncated');
    equal(data(await t.page({ limit: 4, scan_limit: 4 })).truncated, false, 'truncated of a full page');
  }),
  shownOnData('truncation_reasons: there when truncated is true', async (t) => {
    holds(data(await t.page(TRUNCATED)).truncation_reasons?.length > 0, 'a reason');
    equal((await certifiedPage(t)).truncation_reasons, undefined, 'truncation_reasons of a whole page');
  }),
  shownOnData('next_cursor: absent when no candidates remain', async (t) => {
    const last = data(await t.page({ limit: 100, scan_limit: 2_000, edge_clusters: ['core-c'] }));
    equal(last.next_cursor, undefined, 'next_cursor after the last host');
    holds(data(await t.page({ limit: 2 })).next_cursor !== undefined, 'a next_cursor while hosts remain');
  }),
  shown('generated_at_ms: Unix milliseconds of the answer', async (t) => {
    const before = Date.now();
    const answer = await t.fleet({ limit: 1 });
    const { generated_at_ms: generated } = data(answer);
    const clock = Date.parse(answer.headers.get('date') ?? '') || before;
    // Date has whole seconds.
    holds(generated > clock - 1_500 && generated < clock + 2_500, `a time within 1.5 s of ${clock}`, generated);
  }),
];

const rules: Sentence[] = [
  shownOnData('Rule 1: a truncated page still has a next_cursor, and is not the end', async (t) => {
    const body = { limit: 1, scan_limit: 3, edge_clusters: ['core-b'] };
    const first = await t.page(body);
    const { items, truncated, next_cursor } = data(first);
    equal([items.length, truncated], [0, true], 'hosts and truncated');
    const next = data(await t.fleet({ ...body, cursor: next_cursor }, { as: first.caller }));
    equal(idsOf(next.items), hostsWhere(({ host }) => host.edge_cluster === 'core-b').slice(0, 1), 'next hosts');
  }),
  shown('Rule 2: without the live store the page comes from the inventory, with error_code and partial', async (t) => {
    t.need('entities');
    const url = await t.need('impaired')('live-status');
    const { items, partial, coverage } = data(await t.fleet({ ...ALL, agent_versions: ['2.1'] }, { url }));
    equal(
      idsOf(items),
      hostsWhere(({ host }) => host.agent_version === '2.1'),
      'hosts that match by inventory',
    );
    equal([partial, coverage.failed], [true, coverage.scanned], 'partial and failed');
    for (const { servicemap } of items) equal(servicemap.error_code, 'status_unavailable', 'error_code');
  }),
  open('Rule 2: the other four ServiceMap reads fail as a whole', 'the contract does not describe them'),
  shown('Rule 3: a cursor is never made by the caller: one that was not issued is refused', async (t) => {
    const { next_cursor = 'AAAA' } = data(await t.page({ limit: 2 }));
    for (const cursor of ['x', HOSTS[0]?.host.host_id, `${next_cursor}A`, next_cursor.slice(1)])
      refused(await t.call(FLEET, { cursor }), 'InvalidParameter');
  }),
  shown('Rule 4: 400 InvalidParameter', async (t) => invalid(await t.call(FLEET, { limit: 0 }), 'limit')),
  shown('Rule 4: 401 Unauthorized', async (t) => refused(await t.call(FLEET, {}, { as: null }), 'Unauthorized')),
  open('Rule 4: 429 RequestTooFrequently', 'shown in section 8'),
  open('Rule 4: 500 InternalError', 'a bug of the service, which no call can cause'),
  shown('Rule 4: 503 ServiceUnavailable when the subsystem is not enabled', async (t) => {
    const url = await t.need('impaired')('no service map');
    refused(await t.fleet({ limit: 1 }, { url, noRetry: true }), 'ServiceUnavailable');
  }),
  shown('Rule 4: 503 ServiceUnavailable when the subsystem is not reachable', async (t) => {
    const url = await t.need('impaired')('inventory');
    refused(await t.fleet({ limit: 1 }, { url, noRetry: true }), 'ServiceUnavailable');
  }),
];

export const browseFleet = section('4.1', 'Browse service map fleet hosts', [
  shown('POST /monit/servicemap/fleet lists hosts, filtered and page by page', async (t) => {
    await finds(t, { statuses: ['stale'] }, ({ status }) => status === 'stale');
  }),
  shown('Needs the permission Targets Read (monit)', async (t) => {
    refused(await t.call(FLEET, {}, { as: t.need('otherAccount') }), 'AccessDenied');
  }),
  ...requestFields,
  open('The form of a cursor', `${NOT_SHOWN.split(';')[0]}: opaque`),
  ...responseFields,
  ...rules,
]);
