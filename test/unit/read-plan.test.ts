import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  nextRead,
  startAfter,
  uncovered,
  withHosts,
  withStatuses,
} from '../../lib/operations/browse-fleet/read-plan.ts';

const rows = (...ids: string[]) => ids.map((host_id) => ({ host_id }));

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

it('status rows read ahead are kept until their hosts are read', () => {
  const start = { ...startAfter(), lastHost: 'b' };
  const afterRead = withStatuses(start, { after: undefined, limit: 3 }, { rows: rows('a', 'c', 'd'), reached: 'd' });
  expect(afterRead).toEqual({ ...start, covered: 'd', ahead: rows('c', 'd') });
  expect(withHosts(afterRead, { rows: rows('c'), reached: 'c' }).ahead).toEqual(rows('d'));
});

it('after a range of status by itself come single rows of status, then hosts alone', () => {
  const state = { ...startAfter(), hosts: rows('b', 'd', 'f'), lastHost: 'f', covered: 'a' };
  const searched = withStatuses(state, { between: ['b', 'd'], limit: 4 }, { rows: rows('b'), reached: 'c' });
  expect(nextRead(searched, 2)).toEqual({ statuses: { hostIds: ['d'] } });
  expect(nextRead({ ...searched, hosts: [], covered: 'f' }, 2)).toEqual({ hosts: { after: 'f', limit: 3 } });
});

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
