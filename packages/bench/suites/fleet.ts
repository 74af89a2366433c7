/** Whether reading a page of hosts takes longer in a larger fleet. */
import { browseFleet } from '../../../lib/http/operations.ts';
import { sealCursor } from '../../../lib/operations/browse-fleet/fleet-request.ts';
import { readAccount } from '../../admin/accounts/accounts.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { accountLines, fleetLines, hostName } from '../data.ts';
import type { AddFigure } from '../report.ts';
import { createTimes, inTurns } from '../timings.ts';

interface Fleet {
  account: number;
  appKey: string;
  hosts: number;
}

const SMALL: Fleet = { account: 2, appKey: 'bench-key-of-the-small-fleet-00000', hosts: 1_000 };
const LARGE: Fleet = { account: 3, appKey: 'bench-key-of-the-large-fleet-00000', hosts: 50_000 };
const PAGE = 50;
const ROUNDS = 300;
const WARM_UP = 20;
/** Time between two calls of an account, which may make thirty calls a minute. */
const STEP_MS = 3_000;

/** @returns a function that reads the page after this number of hosts */
async function pageAfter({ table, stepClock, call }: BenchService, { account, appKey }: Fleet, hosts: number) {
  const secret = (await readAccount(table, account))?.cursor_secret;
  if (!secret) throw new Error(`there is no account ${account}`);
  const body = hosts === 0 ? {} : { limit: PAGE, cursor: sealCursor(secret, hostName(hosts - 1)) };
  return () => {
    stepClock(STEP_MS);
    return call(browseFleet, appKey, body);
  };
}

export async function run(add: AddFigure): Promise<void> {
  const lines = [SMALL, LARGE].flatMap(({ account, appKey, hosts }) => [
    ...accountLines(account, appKey),
    ...fleetLines(account, hosts, Date.now()),
  ]);
  const service = await startBenchService(lines);
  /** The number of hosts before each page. */
  const pages = {
    first: () => 0,
    middle: ({ hosts }: Fleet) => hosts / 2,
    last: ({ hosts }: Fleet) => hosts - PAGE,
  };
  try {
    for (const [page, hostsBefore] of Object.entries(pages)) {
      const small = await pageAfter(service, SMALL, hostsBefore(SMALL));
      const large = await pageAfter(service, LARGE, hostsBefore(LARGE));
      await inTurns(WARM_UP, [small, large]);
      const [smallTimes, largeTimes] = [createTimes(), createTimes()];
      await inTurns(ROUNDS, [() => smallTimes.time(small), () => largeTimes.time(large)]);
      add({
        name: `${page} page of 50,000 hosts, p50`,
        value: largeTimes.percentile(50),
        unit: 'ms',
        baseline: { name: `${page} page of 1,000 hosts`, value: smallTimes.percentile(50) },
        target: { most: 1.25 },
      });
    }
  } finally {
    await service.stop();
  }
}
