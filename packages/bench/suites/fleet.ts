/** Whether the time of a page of hosts grows with the fleet. */
import { browseFleet } from '../../../lib/http/operations.ts';
import { sealCursor } from '../../../lib/operations/browse-fleet/fleet-request.ts';
import { createHostReader } from '../../../lib/operations/browse-fleet/read-hosts.ts';
import { readAccount } from '../../admin/accounts/accounts.ts';
import { runAdmin } from '../../admin/cli/program.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { takeTurns } from '../compare.ts';
import { accountLines } from '../fleet-data.ts';
import type { NewFigure } from '../report.ts';

type Add = (figure: NewFigure) => void;

const SMALL = { account: 2, appKey: 'bench-key-of-the-small-fleet-00000', hosts: 1_000 };
const LARGE = { account: 3, appKey: 'bench-key-of-the-large-fleet-00000', hosts: 50_000 };
const never = new AbortController().signal;
const fail = (error: unknown) => {
  throw error;
};
const reading = { signal: never, onUnreadable: fail };

export async function run(add: Add): Promise<void> {
  const service = await startBenchService(
    [SMALL, LARGE].flatMap(({ account, appKey }) => accountLines(account, appKey)),
  );
  try {
    for (const { account, hosts } of [SMALL, LARGE]) await simulate(service, account, hosts);
    await measureFlatness(service, add);
  } finally {
    await service.stop();
  }
}

async function simulate({ endpoint, table }: BenchService, account: number, hosts: number): Promise<void> {
  const { stdin, stdout, stderr } = process;
  const args = [
    'fleet',
    'simulate',
    '--account',
    account,
    '--hosts',
    hosts,
    '--endpoint',
    endpoint,
    '--table',
    table.name,
  ];
  const io = { stdin, stdout, stderr, env: process.env, signal: never, now: Date.now };
  if ((await runAdmin(args.map(String), io)) !== 0) throw new Error('fleet simulate failed');
}

/** The first, a middle and the last page of a large and a small fleet. */
async function measureFlatness(service: BenchService, add: Add): Promise<void> {
  const pagesOf = async ({ account, hosts }: typeof SMALL) => {
    const { candidates } = await createHostReader({ table: service.table, account, ...reading }).next(hosts);
    const secret = (await readAccount(service.table, account))?.cursor_secret;
    if (candidates.length !== hosts || !secret) throw new Error('the fleet is not there');
    const after = (index: number) => ({ cursor: sealCursor(secret, candidates[index]?.host.host_id ?? '') });
    return { first: {}, middle: after(hosts / 2), last: after(hosts - 51) };
  };
  const [small, large] = [await pagesOf(SMALL), await pagesOf(LARGE)];
  for (const page of ['first', 'middle', 'last'] as const) {
    const browse = (appKey: string, body: object) => () => {
      service.stepClock(3_000);
      return service.call(browseFleet, appKey, body);
    };
    const times = await takeTurns(
      { small: browse(SMALL.appKey, small[page]), large: browse(LARGE.appKey, large[page]) },
      { rounds: 30, calls: 10 },
    );
    add({
      name: `${page} page of 50,000 hosts`,
      value: times.large.p50,
      unit: 'ms',
      baseline: { name: `${page} page of 1,000 hosts`, value: times.small.p50 },
      target: { most: 1.25 },
    });
  }
}
