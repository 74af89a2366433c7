import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { Kind } from '../lib/data/format.ts';
import { rowOf } from '../lib/data/rows.ts';
import { writeBatch } from '../lib/data/write.ts';
import { reportOf, type Simulation } from '../lib/fleet/simulate.ts';
import type { Int64 } from '../lib/json.ts';
import { withSignal } from '../lib/table/client.ts';
import { requireAccount } from './accounts.ts';
import { accountId, duration, integer, interval } from './arguments.ts';
import { dryRunOption, type Session, withHelp, withTarget } from './command.ts';
import { type Io, print, say } from './io.ts';
import { startProgress } from './progress.ts';

const BATCH = 25;
const CONCURRENCY = 8;

interface SimulateOptions {
  account: Int64;
  hosts: number;
  for: number;
  interval: number;
  seed: number;
}

export function addFleetCommands(program: Command, io: Io): void {
  const fleet = withHelp(
    program.command('fleet'),
    'Simulate hosts',
    'fleet simulate --account 42 --hosts 500 --for 10m',
  );
  withHelp(
    fleet
      .command('simulate')
      .requiredOption('--account <account>', 'account of the hosts', accountId)
      .requiredOption('--hosts <count>', 'how many hosts to simulate', integer(1, 1_000_000))
      .option('--for <duration>', 'how long to keep reporting; 0 reports once', duration, 0)
      .addOption(
        new Option('--interval <duration>', 'how often each host reports').argParser(interval).default(30_000, '30s'),
      )
      .option('--seed <number>', 'a different seed gives a different fleet', integer(0, 2 ** 31), 1)
      .option(...dryRunOption),
    'Simulate hosts that report inventory, health and snapshots; some fail, upgrade or stop reporting',
    'fleet simulate --account 42 --hosts 500 --for 10m',
    'fleet simulate --account 42 --hosts 50000',
  ).action((options: SimulateOptions, command: Command) =>
    withTarget(io, command, 'writes', async (session) => {
      await requireAccount(session.target.table, options.account);
      if (session.dryRun) return say(io, `${options.hosts} hosts would report to account ${options.account}.`);
      await session.audit.around([options.account], `${options.hosts} hosts`, () => simulate(session, options));
    }),
  );
}

async function simulate({ io, target: { table } }: Session, options: SimulateOptions): Promise<void> {
  const simulation: Simulation = { seed: options.seed, hosts: options.hosts, intervalMs: options.interval };
  const began = io.now();
  let written = 0;
  for (let round = 0; ; round += 1) {
    const progress = round === 0 ? startProgress(io, 'first reports', options.hosts) : undefined;
    const roundBegan = io.now();
    try {
      written += await reportAll(table, options.account, simulation, round, io, (count) => progress?.add(count));
    } finally {
      progress?.end();
    }
    const next = roundBegan + options.interval;
    if (next > began + options.for) break;
    if (round > 0 || options.for > 0) say(io, `Round ${round + 1}: ${written} rows written so far.`);
    await sleep(Math.max(0, next - io.now()), undefined, { signal: io.signal });
  }
  print(io, `${options.hosts} hosts reported; ${written} rows written.`);
}

/** One round: every agent's report, a few batches at once. @returns rows written */
async function reportAll(
  table: Session['target']['table'],
  account: Int64,
  simulation: Simulation,
  round: number,
  io: Io,
  onHosts: (count: number) => void,
): Promise<number> {
  let next = 0;
  let written = 0;
  const worker = async () => {
    while (next < simulation.hosts) {
      const rows: Record<string, unknown>[] = [];
      const first = next;
      // A host gives at most two rows.
      while (next < simulation.hosts && rows.length + 2 <= BATCH) {
        const { host, status } = reportOf(simulation, next, round, io.now());
        const add = (kind: Kind, row: object) => rows.push(rowOf({ kind, account_id: account, ...row }));
        if (host) add('host', host);
        if (status) add('host_status', status);
        next += 1;
      }
      const hosts = next - first;
      if (rows.length > 0) await writeBatch(withSignal(table, io.signal), rows);
      written += rows.length;
      onHosts(hosts);
    }
  };
  const workers = Array.from({ length: CONCURRENCY }, worker);
  try {
    await Promise.all(workers);
  } catch (error) {
    next = simulation.hosts;
    await Promise.allSettled(workers);
    throw error;
  }
  return written;
}
