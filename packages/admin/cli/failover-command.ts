import { listAccounts } from '../accounts/accounts.ts';
import { checkTable } from '../check/check.ts';
import { lastArrival, type MissingChange, missingChanges } from '../failover/missing-changes.ts';
import { provideGatewayKeys, type RepairOptions, repairReplica } from '../failover/repair-replica.ts';
import { countText, line, timeText } from '../text/printable.ts';
import { duration } from './arguments.ts';
import type { AdminCommand, WriteResult, WritingSession } from './command.ts';
import { sentenceOf } from './command-errors.ts';
import { CliError, print, say } from './io.ts';
import { connectOther, type Other, type OtherRegionOptions, whyNotFenced, withOtherRegion } from './other-region.ts';

interface Options extends OtherRegionOptions {
  since: number;
  acceptLoss?: boolean;
  json?: boolean;
}
type Session = WritingSession<Options>;

export function addFailoverCommand(program: AdminCommand): void {
  withOtherRegion(program.command('failover'))
    .explain(
      'Let a standby take over from the region that writes, also on the way back: repair what has arrived, list what has not, and say what to deploy (docs/failover.md). Repeat it until it says that it is complete.',
      'failover --stack IncidentMonitoringRum --region eu-central-1 --from eu-west-1 --dry-run',
    )
    .optionWithDefault('--since <duration>', 'how far back to compare the regions', duration, '1h')
    .option(
      '--accept-loss',
      'go on if that region does not answer, is not fenced, or has changes or records that have not arrived',
    )
    .writes(failover);
}

async function failover(session: Session): Promise<WriteResult> {
  const other = await connectOther(session);
  try {
    return await failOver(session, other);
  } finally {
    if ('table' in other) other.close();
  }
}

/** What can happen when a region was not fenced. */
const UNFENCED =
  'Until it is fenced, it may go on writing: of a row that both regions write, the later version stays, and `check` finds merges of both that share alerts.';

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
  if (!haveDigits(session, other)) {
    const text = `Give the stacks in ${target.region} and ${from} different values of the setting regionDigit, and deploy both.`;
    if (!dryRun) throw new CliError(text);
    tell(text);
  }

  let missing: MissingChange[] = [];
  if ('silence' in other) {
    const text = `${from} does not answer: ${other.silence} What it has not sent is lost, or arrives late. ${UNFENCED}`;
    (serves ? tell : decide)(text);
    const arrivedMs = await lastArrival(table, sinceMs);
    const latest = arrivedMs === 0 ? 'none' : timeText(arrivedMs);
    tell(
      `The latest merge or command that has arrived: ${latest}. Later ones may be lost, and some of the seconds before.`,
    );
  } else {
    const unfenced = await whyNotFenced(other);
    if (unfenced)
      decide(
        `${from} ${unfenced}. ${UNFENCED} Set \`standby\` of ${fromStack} to true, deploy it, ${deployment(from, fromStack, true)}, and run this again.`,
      );
    missing = await Array.fromAsync(missingChanges(other.table, table, sinceMs));
    for (const change of missing) tell(textOf(change));
    if (missing.length > 0 && !serves)
      decide(
        `Not arrived from ${from}: ${countText(missing.length, 'change')}. That usually takes seconds: run this again.`,
      );
    const { waiting = 0, underWay = 0 } = (await other.ingestQueues?.counts())?.ingest ?? {};
    if (waiting + underWay > 0)
      decide(
        `Messages in the feed of ${from}: ${waiting + underWay}. Move them by \`feed move\` with the same options, and run this again.`,
      );
  }
  if (dryRun) return plan(session, { missing, findings });

  const step: RepairOptions['step'] = (accounts, what, run) => {
    io.signal.throwIfAborted();
    say(io, `Step: ${what}.`);
    return audit.around(accounts, what, run);
  };
  const lost: object[] = [];
  const { repaired, left } = await repairReplica(table, {
    now: io.now,
    step,
    onLost(account_id, sequence) {
      lost.push({ account_id, sequence });
      tell(`Lost: account ${account_id}, the merge or undo ${sequence}, of about ${timeText(sequence)}.`);
    },
    onTwice: ({ account, ids, detail }) =>
      tell(
        `Merged in two regions: account ${account}, entry ${ids.sequence} of incident ${ids.incident_id}: ${detail}.`,
      ),
  });
  if (target.gatewayKeys)
    await provideGatewayKeys(table, target.gatewayKeys, step).catch((error) => {
      io.signal.throwIfAborted();
      tell(
        `Gateway keys are left out: ${sentenceOf(error)} Run \`gateway-keys create\`; until then these accounts share a throttle.`,
      );
    });
  const json = { from, answers: 'table' in other, serves, missing, lost, repaired, left, findings };
  const done = `${countText(repaired, 'finding')} repaired${left > 0 ? `, ${left} left: run \`check\`` : ''}.`;
  const again = 'silence' in other ? ` When ${from} answers, fence it first, and run this again.` : '';
  if (serves) return { text: `${done} The failover is complete.${recordText(session)}${again}`, json };
  const next =
    target.standby === undefined
      ? ''
      : ` Set \`standby\` of ${stack} to false, deploy it, ${deployment(target.region, stack, false)}, and run this again, which checks it.`;
  return { text: `${done} The replica is ready.${next}`, json };
}

/** Whether the stacks have different digits. Otherwise merges of both could get the same sequence. */
function haveDigits({ target }: Session, other: Other): boolean {
  const digits = [target, ...('table' in other ? [other] : [])].flatMap(({ outputs, regionDigit }) =>
    outputs ? regionDigit : [],
  );
  return digits.every((digit) => digit > 0) && new Set(digits).size === digits.length;
}

/** How to lead the domain to this region, if the stack has one. */
function recordText({ target: { url, outputs } }: Session): string {
  const domainTarget = outputs?.get('DomainTarget');
  if (url === undefined || domainTarget === undefined) return '';
  const ResourceRecordSet = {
    ...{ Name: new URL(url).hostname, Type: 'CNAME', TTL: 60 },
    ResourceRecords: [{ Value: domainTarget }],
  };
  const batch = JSON.stringify({ Changes: [{ Action: 'UPSERT', ResourceRecordSet }] });
  return ` Lead the domain here: aws route53 change-resource-record-sets --hosted-zone-id ZONE --change-batch '${batch}'`;
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

/** What a failover would do, and how long it would read. */
async function plan({ io, table }: Session, json: object): Promise<WriteResult> {
  const began = performance.now();
  const accounts = (await listAccounts(table)).length;
  let count = 0;
  for await (const findings of checkTable(table, io.now())) count += findings.length;
  const seconds = Math.ceil((performance.now() - began) / 1_000);
  return {
    text: `Accounts, merges and gateway keys of ${countText(accounts, 'account')} would be repaired: ${countText(count, 'finding')}. Reading them took ${seconds} s; the failover reads at least three times.`,
    json: { ...json, accounts, to_repair: count, reading_seconds: seconds },
  };
}
