import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  nextRead,
  type Progress,
  type ReadStep,
  type StatusRead,
  startAfter,
  uncovered,
  withHosts,
  withStatuses,
} from '../../lib/operations/browse-fleet/read-plan.ts';

const rows = (...ids: string[]) => ids.map((host_id) => ({ host_id }));
const progress = (fields: Partial<Progress> = {}): Progress => ({ ...startAfter(), ...fields });
/** Three hosts were read for a chunk of two; their status is known up to `covered`. */
const threeHostsRead = (fields: Partial<Progress>) =>
  progress({ hosts: rows('b', 'd', 'f'), lastHost: 'f', ...fields });

/** Parts of a step: hosts after a host id, and live status after a host id. */
const hostsAfter = (after: string | undefined, limit: number) => ({ hosts: { after, limit } });
const statusesAfter = (after: string | undefined, limit: number) => ({ statuses: { after, limit } });
const bothAfter = (after: string | undefined, limit: number) => ({
  ...hostsAfter(after, limit),
  ...statusesAfter(after, limit),
});
const oneHost = { hosts: rows('b'), lastHost: 'b' };

describe('the next read for two hosts', () => {
  it.each<[string, Progress, ReadStep | undefined]>([
    ['at first is both ranges, for one host more', progress(), bothAfter(undefined, 3)],
    ['is none when three hosts were read and the status of two is known', threeHostsRead({ covered: 'e' }), undefined],
    [
      'is none when the last hosts and all status are known',
      threeHostsRead({ complete: true, allCovered: true }),
      undefined,
    ],
    [
      'is the rest of the hosts when fewer came, and their status as far as it was not read ahead',
      progress({ ...oneHost, covered: 'c', ahead: rows('c') }),
      { ...hostsAfter('b', 2), ...statusesAfter('c', 1) },
    ],
    [
      'is hosts alone when enough status was read ahead',
      progress({ ...oneHost, covered: 'd', ahead: rows('c', 'd') }),
      hostsAfter('b', 2),
    ],
    [
      'is hosts alone when the status of those that were read is not known yet',
      progress({ ...oneHost, covered: 'a' }),
      hostsAfter('b', 2),
    ],
    [
      'is a range of status, two rows a host, when the status read together with the hosts ended before them',
      threeHostsRead({ covered: 'a' }),
      { statuses: { between: ['b', 'd'], limit: 4 } },
    ],
    [
      'is status by keys for the hosts that this range did not reach',
      threeHostsRead({ covered: 'c', searched: 'd' }),
      { statuses: { hostIds: ['d'] } },
    ],
    [
      'is hosts alone once a range of status was read by itself',
      progress({ lastHost: 'f', covered: 'f', searched: 'd' }),
      hostsAfter('f', 3),
    ],
    ['is hosts alone once live status could not be read', progress({ unreadable: true }), hostsAfter(undefined, 3)],
    ['is none when live status cannot be read', threeHostsRead({ covered: 'a', unreadable: true }), undefined],
  ])('%s', (_what, state, next) => expect(nextRead(state, 2)).toEqual(next));

  it.each([
    ['reads on after one host', rows('b'), bothAfter('b', 2)],
    ['is none after two hosts', rows('b', 'd'), undefined],
  ])('%s when little time is left', (_what, hosts, next) => {
    const lastHost = hosts.at(-1)?.host_id ?? '';
    expect(nextRead(progress({ hosts, lastHost, covered: lastHost }), 2, true)).toEqual(next);
  });
});

describe('the progress after a read of status', () => {
  const before = progress({ lastHost: 'd', covered: 'a' });
  it.each<[string, StatusRead, string | undefined, Partial<Progress>]>([
    ['a range that ends', { after: 'a', limit: 9 }, undefined, { allCovered: true }],
    ['a range of hosts that goes on', { between: ['b', 'd'], limit: 1 }, 'b', { covered: 'b', searched: 'd' }],
    ['a range of hosts that ends', { between: ['b', 'd'], limit: 9 }, undefined, { covered: 'd', searched: 'd' }],
    ['rows by their keys', { hostIds: ['b', 'c'] }, undefined, { covered: 'c' }],
  ])('for %s', (_what, statuses, reached, changed) => {
    expect(withStatuses(before, statuses, { rows: rows('b'), reached })).toEqual({ ...before, ...changed });
  });
});

it('status rows read ahead are kept until their hosts are read', () => {
  const range = { after: undefined, limit: 3 };
  const afterRead = withStatuses(progress({ lastHost: 'b' }), range, { rows: rows('a', 'c', 'd'), reached: 'd' });
  expect(afterRead).toEqual(progress({ lastHost: 'b', covered: 'd', ahead: rows('c', 'd') }));
  const { ahead } = withHosts(afterRead, { rows: rows('c'), reached: 'c' });
  expect(ahead).toEqual(rows('d'));
});

const ids = fc.uniqueArray(fc.stringMatching(/^[a-dé\uffee\u{1f600}]{1,2}$/u), { maxLength: 20 });
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A page of a range of these ids. @param pageSize how many a page holds at most */
function page(
  all: readonly string[],
  range: { after?: string | undefined; between?: readonly [string, string]; limit: number },
  pageSize: number,
) {
  const { after = '', between: [from, to] = ['', '\u{10ffff}'], limit } = range;
  const inside = all
    .toSorted(byBytes)
    .filter((id) => byBytes(id, after) > 0 && byBytes(id, from) >= 0 && byBytes(id, to) <= 0);
  const pageIds = inside.slice(0, Math.min(limit, pageSize));
  return {
    rows: rows(...pageIds),
    reached: pageIds.length < inside.length || pageIds.length === limit ? pageIds.at(-1) : undefined,
  };
}

it('with pages of any size each host is read once, in order, with its status, at a cost of at most four status rows a host', () => {
  const pageSizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 });
  const chunkSizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(ids, ids, chunkSizes, pageSizes, (hosts, statuses, chunks, pages) => {
      let state = startAfter();
      const known = new Set<string>();
      const returned: string[] = [];
      let steps = 0;
      for (let chunk = 0; chunk === 0 || state.hosts.length > 0; chunk += 1) {
        const size = chunks[chunk % chunks.length] as number;
        let statusRows = 0;
        for (let next = nextRead(state, size); next; next = nextRead(state, size)) {
          steps += 1;
          const pageSize = pages[steps % pages.length] as number;
          if (next.hosts) state = withHosts(state, page(hosts, next.hosts, pageSize));
          if (next.statuses && 'hostIds' in next.statuses) {
            const foundIds = next.statuses.hostIds.filter((id) => statuses.includes(id));
            statusRows += next.statuses.hostIds.length;
            for (const id of foundIds) known.add(id);
            state = withStatuses(state, next.statuses, { rows: rows(...foundIds), reached: undefined });
          } else if (next.statuses) {
            const foundPage = page(statuses, next.statuses, pages[(steps + 1) % pages.length] as number);
            statusRows += foundPage.rows.length;
            for (const { host_id } of foundPage.rows) known.add(host_id);
            state = withStatuses(state, next.statuses, foundPage);
          }
          expect(steps).toBeLessThan(200);
        }
        const chunkHosts = state.hosts.slice(0, size);
        expect(uncovered(state, chunkHosts)).toEqual([]);
        expect(statusRows).toBeLessThanOrEqual(4 * size + 1);
        state = { ...state, hosts: state.hosts.slice(chunkHosts.length) };
        returned.push(...chunkHosts.map(({ host_id }) => host_id));
        for (const { host_id } of chunkHosts) expect(known.has(host_id)).toBe(statuses.includes(host_id));
      }
      expect(returned).toEqual(hosts.toSorted(byBytes));
    }),
  );
});
