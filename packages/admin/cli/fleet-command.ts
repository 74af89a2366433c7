import { setTimeout as sleep } from 'node:timers/promises';
import { reportedStatus, reportOf } from '../../../infra/generate/simulated-fleet.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { messagesOf } from '../feed/messages.ts';
import { duration, integer, interval } from './arguments.ts';
import type { AccountOptions, AdminCommand, Session, WriteResult, WritingSession } from './command.ts';
import { say } from './io.ts';
import { startProgress } from './output.ts';
import { recordSenderOf } from './target.ts';

const HOSTS_IN_BATCH = 250;
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
    .optionWithDefault('--interval <duration>', 'how often each host reports', interval, '30s')
    .option('--seed <number>', 'a different seed gives a different fleet', integer(0, 2 ** 31), 1)
    .costs(costText)
    .writes(async (session: WritingSession<SimulateOptions>) => {
      const { options, audit } = session;
      const { account, hosts } = options;
      if (session.dryRun) return { text: `${hosts} hosts would report to account ${account}.`, json: { hosts } };
      return audit.around([options.account], `${options.hosts} hosts`, () => simulate(session));
    });
}

function* reportsOf(options: SimulateOptions, firstIndex: number, count: number, round: number, nowMs: number) {
  const { account, seed, hosts, interval: intervalMs } = options;
  for (let index = firstIndex; index < firstIndex + count; index += 1) {
    const { host, status } = reportOf({ seed, hosts, intervalMs }, index, round, nowMs);
    if (host) yield { kind: 'host', account_id: account, ...host };
    if (status) yield { kind: 'host_status', account_id: account, ...reportedStatus(status) };
  }
}

async function simulate({ io, target, options }: Session<SimulateOptions>): Promise<WriteResult> {
  const { account, hosts } = options;
  const feed = recordSenderOf(target, io);
  const batches = Array.from({ length: Math.ceil(hosts / HOSTS_IN_BATCH) }, (_, index) => index * HOSTS_IN_BATCH);
  const began = io.now();
  let sent = 0;

  for (let round = 0; ; round += 1) {
    const progress = round === 0 ? startProgress(io, 'first reports', hosts) : undefined;
    const roundBegan = io.now();
    const reportBatch = async (firstIndex: number) => {
      const count = Math.min(HOSTS_IN_BATCH, hosts - firstIndex);
      const records = [...reportsOf(options, firstIndex, count, round, io.now())];
      await feed.send([...messagesOf(String(account), records)]);
      sent += records.length;
      progress?.add(count);
    };
    await forEach(batches, reportBatch, { concurrency: CONCURRENCY, signal: io.signal }).finally(progress?.end);
    const next = roundBegan + options.interval;
    if (next > began + options.for) break;
    if (round > 0 || options.for > 0) say(io, `Round ${round + 1}: ${sent} records sent so far.`);
    await sleep(Math.max(0, next - io.now()), undefined, { signal: io.signal });
  }
  await target.feed?.waitUntilEmpty(io.signal);
  return { text: `${hosts} hosts reported; ${sent} records sent.`, json: { hosts, records: sent } };
}

/**
 * US dollars, as in docs/cost.md: one write unit for each record, and three SQS requests for each message, which has about 150 records and
 * less than 64 KB.
 */
const WRITE_UNIT_DOLLARS = 0.625 / 1_000_000;
const REQUEST_DOLLARS = 0.4 / 1_000_000;
const RECORDS_IN_MESSAGE = 150;

function costText({ hosts, interval, for: durationMs }: SimulateOptions): string {
  const records = hosts * (2 + Math.floor(durationMs / interval));
  const dollars = records * WRITE_UNIT_DOLLARS + Math.ceil(records / RECORDS_IN_MESSAGE) * 3 * REQUEST_DOLLARS;
  return `About ${records.toLocaleString('en')} records; they cost about $${dollars.toFixed(dollars < 1 ? 4 : 2)} (docs/cost.md).`;
}
