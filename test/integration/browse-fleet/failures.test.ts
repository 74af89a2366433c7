import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';
import { type Fault, type ProxiedCall, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Fleet, hostId, inventory, live, newFleet } from '../../support/fleet.ts';
import { connectThrough, newTable, PATIENCE, PATIENT_LIMITS } from '../../support/service.ts';
import { within } from '../../support/within.ts';

let fleet: Fleet;
const proxy = await startFaultProxy(dynamodbEndpoint());
const table = await newTable();
const through = connectThrough(table, proxy, PATIENCE);
afterAll(() => proxy.close());
afterEach(() => void vi.useRealTimers());
beforeEach(async () => {
  proxy.plan();
  fleet = await newFleet(table, { through });
  await fleet.putHosts({
    [hostId(1)]: inventory({ reason_codes: ['own'] }),
    [hostId(2)]: inventory({ enabled: false }),
    [hostId(3)]: inventory({ capability_status: 'running', snapshot_ready: false }),
  });
  await fleet.putLive({ [hostId(1)]: live(), [hostId(2)]: live(), [hostId(3)]: live() });
});

const readsLiveStatus = ({ body }: ProxiedCall) => body.includes('#HOST_STATUSES');
const readsInventory = ({ body }: ProxiedCall) => body.includes('#HOSTS');
const plan = (fault: Fault, which: (call: ProxiedCall) => boolean = () => true) =>
  proxy.plan((call) => (which(call) ? fault : undefined));

describe('live status that cannot be read', () => {
  it.each(['invalid', 'throttle', 'error-before', 'cut'] as const)(
    '(%s) leaves the answer with the data of the inventory, marked by failed, error_code and partial',
    async (fault) => {
      plan(fault, readsLiveStatus);
      const page = expectData(browseFleet, await fleet.browse());
      expect(page).toMatchObject({ partial: true, truncated: false });
      expect(page.coverage).toMatchObject({ scanned: 3, matched: 3, returned: 3, failed: 3 });
      expect(page.coverage.states).toMatchObject({ no_data: 1, disabled: 1, initializing: 1, active: 0 });
      const statuses = page.items.map((item: { servicemap: { status: string } }) => item.servicemap.status);
      expect(statuses).toEqual(['no_data', 'disabled', 'initializing']);
      expect(page.items[0].servicemap).toEqual({
        enabled: true,
        status: 'no_data',
        snapshot_ready: true,
        authoritative: false,
        graph_available: false,
        freshness_status: 'unknown',
        node_count: 0,
        edge_count: 0,
        reason_codes: ['own', 'no_reports', 'status_unavailable'],
        error_code: 'status_unavailable',
      });
    },
  );

  it('within 1 s is given up, and the answer is the same', async () => {
    const timeLimits = { ...PATIENT_LIMITS, liveStatusMs: TIME_LIMITS.liveStatusMs };
    const hurriedFleet = await newFleet(table, { through, timeLimits, caller: fleet, alone: true });
    const asked = Promise.withResolvers<void>();
    proxy.plan((call) => {
      if (!readsLiveStatus(call)) return undefined;
      asked.resolve();
      return 'hang';
    });
    // One second passes on the fake timers. The attempt's own time-out, a fake timer too, is longer.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const answer = hurriedFleet.browse();
    await asked.promise;
    await vi.advanceTimersByTimeAsync(1_000);
    // The deadline of the call is a real timer: it would end the read too, but only after 30 s.
    const page = expectData(browseFleet, await within(15_000, () => answer));
    expect(page).toMatchObject({ partial: true, coverage: { returned: 3, failed: 3 } });
  });

  it('is logged once per request, without the error message', async () => {
    plan('invalid', readsLiveStatus);
    const answer = await fleet.browse();
    const lines = fleet.deps.log.lines.filter(({ message }) => message === 'live status unreadable');
    expect(lines.map(({ fields }) => fields)).toEqual([
      { request_id: answer.body.request_id, error_name: 'ValidationException' },
    ]);
  });

  it('for some candidates counts only those as failed', async () => {
    const ids = Array.from({ length: 110 }, (_, index) => `z-${String(index).padStart(3, '0')}`);
    await fleet.putHosts(Object.fromEntries(ids.map((id) => [id, inventory({ edge_cluster: 'us' })])));
    await fleet.putLive(Object.fromEntries(ids.map((id) => [id, live()])));
    let reads = 0;
    plan('invalid', (call) => {
      if (!readsLiveStatus(call)) return false;
      reads += 1;
      return reads > 1;
    });
    const page = expectData(browseFleet, await fleet.browse({ limit: 100, edge_clusters: ['us'] }));
    // The first read covers 101 hosts, three in eu and 98 in us; the later ones fail.
    expect(page.items.filter((item: { servicemap: object }) => 'error_code' in item.servicemap)).toHaveLength(2);
    expect(page.coverage).toMatchObject({ scanned: 103, matched: 100, failed: 2 });
  });
});

describe('fleet browse', () => {
  it.each(['throttle', 'error-before', 'cut'] as const)(
    'is ServiceUnavailable when the inventory cannot be read (%s)',
    async (fault) => {
      plan(fault, readsInventory);
      const answer = await fleet.browse();
      expectEnvelope(answer, 503, 'ServiceUnavailable');
      expect(answer.headers['Retry-After']).toBe('1');
      expect(answer.headers).toHaveProperty('RateLimit');
    },
  );

  it('is ServiceUnavailable when its time is over before the inventory is read', async () => {
    // Its attempts wait for longer than the call does: only the deadline can end it.
    const timeLimits = { ...PATIENT_LIMITS, callMs: 500 };
    const hurriedFleet = await newFleet(table, { through, timeLimits, caller: fleet, alone: true });
    plan('hang', readsInventory);
    expectEnvelope(await within(3_000, () => hurriedFleet.browse()), 503, 'ServiceUnavailable');
  });

  it('that cannot be counted is ServiceUnavailable, without rate-limit headers', async () => {
    const newcomer = await newFleet(table, { through: connectThrough(table, proxy, PATIENCE) });
    plan('throttle', ({ action }) => action === 'UpdateItem');
    const answer = await newcomer.browse();
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(Object.keys(answer.headers).filter((name) => /rate-?limit/i.test(name))).toEqual([]);
  });
});
