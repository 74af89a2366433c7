import { setTimeout as sleep } from 'node:timers/promises';
import { reportOf, type Simulation } from '../../../infra/generate/simulated-fleet.ts';
import { withSignal } from '../../../lib/dynamodb/client.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { rowOf } from '../../../lib/ingest/entity-rows.ts';
import { writeBatch } from '../data/write.ts';
import { duration, integer, interval } from './arguments.ts';
import type { AccountOptions, AdminCommand, Session, WritingSession } from './command.ts';
import { print, say } from './io.ts';
import { startProgress } from './progress.ts';

/** A host gives at most two rows, and a batch has 25. */
const HOSTS_IN_BATCH = 12;
const CONCURRENCY = 8;

interface SimulateOptions extends AccountOptions {
  hosts: number;
  for: number;
  interval: number;
  seed: number;
}

export function addFleetCommands(program: AdminCommand): void {
  program
    .command('fleet')
    .explain('Simulate hosts', 'fleet simulate --account 42 --hosts 500 --for 10m')
    .command('simulate')
    .explain(
      'Simulate hosts that report inventory, health and snapshots; some fail, upgrade or stop reporting',
      'fleet simulate --account 42 --hosts 500 --for 10m',
      'fleet simulate --account 42 --hosts 50000',
    )
    .ofAccount('account of the hosts')
    .requiredOption('--hosts <count>', 'how many hosts to simulate', integer(1, 1_000_000))
    .option('--for <duration>', 'how long to keep reporting; 0 reports once', duration, 0)
    .optionOr('--interval <duration>', 'how often each host reports', interval, '30s')
    .option('--seed <number>', 'a different seed gives a different fleet', integer(0, 2 ** 31), 1)
    .writes(async (session: WritingSession<SimulateOptions>) => {
      const { io, options, audit } = session;
      if (session.dryRun) return say(io, `${options.hosts} hosts would report to account ${options.account}.`);
      await audit.around([options.account], `${options.hosts} hosts`, () => simulate(session));
    });
}

async function simulate({ io, table, options }: Session<SimulateOptions>): Promise<void> {
  const { account, hosts } = options;
  const simulation: Simulation = { seed: options.seed, hosts, intervalMs: options.interval };
  const batches = Array.from({ length: Math.ceil(hosts / HOSTS_IN_BATCH) }, (_, index) => index * HOSTS_IN_BATCH);
  const began = io.now();
  let written = 0;

  function rowsOf(index: number, round: number) {
    const { host, status } = reportOf(simulation, index, round, io.now());
    return [
      ...(host ? [rowOf({ kind: 'host', account_id: account, ...host })] : []),
      ...(status ? [rowOf({ kind: 'host_status', account_id: account, ...status })] : []),
    ];
  }

  for (let round = 0; ; round += 1) {
    const progress = round === 0 ? startProgress(io, 'first reports', hosts) : undefined;
    const roundBegan = io.now();
    const reportBatch = async (first: number, signal: AbortSignal) => {
      const count = Math.min(HOSTS_IN_BATCH, hosts - first);
      const rows = Array.from({ length: count }, (_, index) => rowsOf(first + index, round)).flat();
      await writeBatch(withSignal(table, signal), rows);
      written += rows.length;
      progress?.add(count);
    };
    await forEach(batches, reportBatch, { concurrency: CONCURRENCY, signal: io.signal }).finally(progress?.end);
    const next = roundBegan + options.interval;
    if (next > began + options.for) break;
    if (round > 0 || options.for > 0) say(io, `Round ${round + 1}: ${written} rows written so far.`);
    await sleep(Math.max(0, next - io.now()), undefined, { signal: io.signal });
  }
  print(io, `${hosts} hosts reported; ${written} rows written.`);
}
