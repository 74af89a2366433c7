import { SQS } from '@aws-sdk/client-sqs';
import { isEndpoint } from '../../../lib/aws/endpoint.ts';
import { withSignal } from '../../../lib/table/client.ts';
import { listAccounts } from '../accounts/accounts.ts';
import { clientConfig } from '../aws/client-config.ts';
import { checkTable } from '../check/check.ts';
import { lastArrival, type MissingChange, missingChanges } from '../failover/missing-changes.ts';
import { repairReplica } from '../failover/repair-replica.ts';
import { countMessages } from '../ingest/queues.ts';
import { countText, line, timeText } from '../text/printable.ts';
import { duration } from './arguments.ts';
import type { AdminCommand, WriteResult, WritingSession } from './command.ts';
import { sentenceOf } from './command-errors.ts';
import { CliError, print, say, UsageError } from './io.ts';
import { connectTarget, type Target } from './target.ts';

interface Options {
  stack?: string;
  from: string;
  fromStack?: string;
  since: number;
  acceptLoss?: boolean;
  json?: boolean;
}
type Session = WritingSession<Options>;

export function addFailoverCommands(program: AdminCommand): void {
  const does = 'repair what has arrived, list what has not, and say what to deploy';
  for (const [name, description] of [
    ['failover', 'Let a standby take over from the region that writes'],
    ['failback', 'The same as `failover`, on the way back'],
  ] as const)
    program
      .command(name)
      .explain(
        `${description}: ${does} (docs/operate.md). Repeat it until it says that it is complete.`,
        `${name} --stack IncidentMonitoringRum --region eu-central-1 --from eu-west-1 --dry-run`,
      )
      .requiredOption(
        '--from <region>',
        'the region that has written until now; of a table at --endpoint its URL there',
      )
      .option('--from-stack <name>', 'the stack in that region (default: the name of --stack)')
      .optionWithDefault('--since <duration>', 'how far back to compare the regions', duration, '1h')
      .option(
        '--accept-loss',
        'go on if that region does not answer, still writes, or has changes that have not arrived',
      )
      .allowsStandby()
      .writes(failover);
}

type Other = Target | { readonly silence: string };

async function failover(session: Session): Promise<WriteResult> {
  const other = await connectOther(session);
  try {
    return await failOver(session, other);
  } finally {
    if ('table' in other) other.close();
  }
}

/** Milliseconds in which the other region's table must answer. */
const ANSWER_MS = 10_000;

/** The stack or table of the other region, or why it does not answer. */
async function connectOther({ io, table, target, options }: Session): Promise<Other> {
  const { from, fromStack, stack } = options;
  if (from === target.region) throw new UsageError('--from must be the other region, not that of --region.');
  const place = isEndpoint(from)
    ? { endpoint: from, table: table.name }
    : { region: from, ...(stack === undefined ? { table: table.name } : { stack: fromStack ?? stack }) };
  try {
    const other = await connectTarget(place, io.env);
    if (other.table.name !== table.name)
      throw new UsageError(`${other.table.name} and ${table.name} are not replicas of one table.`);
    await listAccounts(withSignal(other.table, AbortSignal.timeout(ANSWER_MS)));
    return other;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return { silence: sentenceOf(error) };
  }
}

async function failOver(session: Session, other: Other): Promise<WriteResult> {
  const { io, table, target, options, dryRun, audit } = session;
  const { from, stack, fromStack = stack } = options;
  const sinceMs = Math.max(0, io.now() - options.since);
  /** It serves already: then the command looks after what has arrived since. */
  const serves = target.standby === false;
  const findings: string[] = [];
  const tell = (text: string) => {
    findings.push(text);
    (options.json ? say : print)(io, text);
  };
  /** Stops, unless the operator accepts this. */
  const decide = (text: string) => {
    if (!dryRun && !options.acceptLoss) throw new CliError(`${text} Or pass --accept-loss.`);
    tell(dryRun ? `Without --accept-loss this stops: ${text}` : text);
  };

  let missing: MissingChange[] = [];
  if ('silence' in other) {
    const text = `${from} does not answer: ${other.silence} What it has not sent is lost, or arrives late.`;
    (serves ? tell : decide)(text);
    const arrivedMs = await lastArrival(table, sinceMs);
    const latest = arrivedMs === 0 ? 'none' : timeText(arrivedMs);
    tell(
      `The latest merge or command that has arrived: ${latest}. Later ones may be lost, and some of the seconds before.`,
    );
  } else {
    if (other.standby === false)
      decide(
        `${from} still writes. Set \`standby\` of ${fromStack} to true, deploy it, ${deployment(from, fromStack, true)}, and run this again.`,
      );
    missing = await Array.fromAsync(missingChanges(other.table, table, sinceMs));
    for (const change of missing) tell(textOf(change));
    for (const text of await waitingIn(other)) tell(text);
    if (missing.length > 0 && !serves)
      decide(
        `Not arrived from ${from}: ${countText(missing.length, 'change')}. That usually takes seconds: run this again.`,
      );
  }
  if (dryRun) return plan(session, { missing, findings });

  const lost: object[] = [];
  const { repaired, left } = await repairReplica(table, {
    gatewayKeys: target.gatewayKeys,
    raises: !serves,
    now: io.now,
    step(what, accounts, run) {
      io.signal.throwIfAborted();
      say(io, `Step: ${what}.`);
      return audit.around(accounts, what, run);
    },
    onLost(entry) {
      lost.push(entry);
      tell(
        `Lost: account ${entry.account_id}, the merge or undo ${entry.sequence}, of about ${timeText(entry.sequence)}.`,
      );
    },
  });
  const json = { from, answers: 'table' in other, serves, missing, lost, repaired, left, findings };
  const done = `${countText(repaired, 'finding')} repaired${left > 0 ? `, ${left} left: run \`check\`` : ''}.`;
  const again = 'silence' in other ? ` Run this again when ${from} answers.` : '';
  if (serves) return { text: `${done} The failover is complete.${again}`, json };
  const next =
    target.standby === undefined
      ? ''
      : ` Set \`standby\` of ${stack} to false, deploy it, ${deployment(target.region, stack, false)}, and run this again, which checks it.`;
  return { text: `${done} The replica is ready.${next}`, json };
}

const deployment = (region = '', stack = '', standby: boolean) =>
  `AWS_REGION=${region} npx cdk deploy -c stackName=${stack} --parameters Standby=${standby}`;

function textOf({ account_id, kind, id, at_ms, request_id, by }: MissingChange): string {
  const more = [
    ...(at_ms === undefined ? [] : [timeText(at_ms)]),
    ...(by === undefined ? [] : [line`by ${by}`]),
    ...(request_id === undefined ? [] : [line`request_id ${request_id}`]),
  ];
  return [line`Not arrived: account ${account_id}, ${kind} ${id}`, ...more].join(', ');
}

/** What waits in the queues of the other region's stack. */
async function waitingIn({ outputs, region }: Target): Promise<string[]> {
  const sqs = new SQS(clientConfig(region));
  const texts = ['FeedUrl', 'MergeQueueUrl', 'RelayEventsUrl'].map(async (name) => {
    const url = outputs?.get(name);
    if (url === undefined) return [];
    const count = await countMessages(sqs, url).catch(sentenceOf);
    if (typeof count === 'string') return [`Messages in its ${name}: unknown. ${count}`];
    return count.waiting + count.underWay > 0 ? [`Messages in its ${name}: ${count.waiting + count.underWay}.`] : [];
  });
  return (await Promise.all(texts)).flat();
}

/** What a failover would do, and how long it would read. */
async function plan({ io, table }: Session, json: object): Promise<WriteResult> {
  const began = performance.now();
  const accounts = (await listAccounts(table)).length;
  let count = 0;
  for await (const findings of checkTable(table, io.now())) count += findings.length;
  const seconds = Math.ceil((performance.now() - began) / 1_000);
  return {
    text: `Accounts, gateway keys, the order of merges and merges of ${countText(accounts, 'account')} would be repaired: ${countText(count, 'finding')}. Reading them took ${seconds} s; the failover reads at least three times.`,
    json: { ...json, accounts, to_repair: count, reading_seconds: seconds },
  };
}
