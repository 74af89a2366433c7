/** What the settings of a deployment require of its AWS account and region. The settings are read as the CDK reads them. */
import { MIN_RESERVED, totalReserved } from '../../../infra/function-settings.ts';
import {
  type DeploymentSettings,
  DeploymentSettingsError,
  keptSettings,
  readContextFiles,
  readDeploymentSettings,
} from '../../../infra/stack-settings.ts';
import { UsageError } from './io.ts';

/** What a check found, and whether something has to be changed. */
export type Finding =
  | { verdict: 'ok'; found: string }
  | { verdict: 'change'; found: string; advice: string }
  | { verdict: 'unknown'; found: string };

export const ok = (found: string): Finding => ({ verdict: 'ok', found });
export const change = (found: string, advice: string): Finding => ({ verdict: 'change', found, advice });

/** Minimum of available concurrent executions: fewer leave too few to reserve. */
const MIN_CONCURRENCY = 200;
/** Executions that Lambda keeps for functions without a reservation. */
const UNRESERVED = 100;
/** Minimum that is advised for mergeConcurrency and feedConcurrency. */
const MIN_CAP = 2;
/**
 * The settings of a stage, as the CDK reads them.
 * @param contextOptions the values of `-c`
 * @param root the folder of cdk.json
 * @throws UsageError naming every invalid setting
 */
export function readSettings(contextOptions: readonly string[], root: URL): DeploymentSettings {
  const options = contextOptions.map((setting) => {
    const [, name, value] = /^(\w+)=(.*)$/.exec(setting) ?? [];
    if (name === undefined) throw new UsageError(`--context must be name=value, as for cdk deploy, not "${setting}".`);
    return [name, value] as const;
  });
  try {
    return readDeploymentSettings({ ...readContextFiles(root), ...Object.fromEntries(options) });
  } catch (error) {
    if (error instanceof DeploymentSettingsError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * Findings on Lambda's concurrent executions.
 * @param all the limit of the account
 * @param free the part of it that no function has reserved
 * @param isDeployed whether the stack exists: then all reservations count as its own
 */
export function concurrencyFindings(
  { all, free }: { all: number; free: number },
  { reservedConcurrency: reserved, mergeConcurrency, feedConcurrency }: DeploymentSettings,
  isDeployed: boolean,
): Finding[] {
  const found = `${all} executions at once, ${free} of them not reserved`;
  const available = isDeployed ? all : free;
  const toReserve = totalReserved(reserved);
  const reservable = Math.max(0, available - UNRESERVED);
  const unreserved = available - Math.min(toReserve, reservable);
  const cap = Math.max(MIN_CAP, Math.floor(unreserved / 4));
  const backlogs = `of ${unreserved} unreserved executions, a backlog of merges takes at most ${mergeConcurrency}, one of the feed ${feedConcurrency}, and relay one for each shard of the table's stream`;
  return [
    available >= MIN_CONCURRENCY
      ? ok(found)
      : change(
          found,
          'Ask for 1000: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000',
        ),
    mergeConcurrency + feedConcurrency <= unreserved / 2
      ? ok(backlogs)
      : change(
          `${backlogs}: too few may remain for calls`,
          `Deploy with -c mergeConcurrency=${Math.min(mergeConcurrency, cap)} -c feedConcurrency=${Math.min(feedConcurrency, cap)}`,
        ),
    toReserve <= reservable
      ? ok(
          reserved === 0
            ? nothingReserved(Math.floor(reservable / 2))
            : `${toReserve} will be reserved, which leaves ${unreserved}`,
        )
      : change(
          `${toReserve} of ${available} would be reserved, and Lambda keeps ${UNRESERVED} unreserved`,
          `Deploy with -c reservedConcurrency=${asSetting(reservable)}`,
        ),
  ];
}

/** The value for `reservedConcurrency`, which is 0 or at least the minimum. */
const asSetting = (executions: number) => (executions < MIN_RESERVED ? 0 : executions);

const nothingReserved = (half: number) =>
  `nothing is reserved: merges or callers without a key can leave too few executions for the authorizer and the reads${
    asSetting(half) === 0 ? '' : `; -c reservedConcurrency=${half} keeps some for them`
  }`;

/** Settings whose change CloudFormation refuses unless it is told. @param deployed the parameters of the deployed stack */
export const keptFindings = (
  settings: DeploymentSettings,
  deployed: ReadonlyMap<string | undefined, string | undefined>,
): Finding[] =>
  Object.entries(keptSettings(settings)).flatMap(([name, { setting, value }]) => {
    const before = deployed.get(name);
    return before === undefined || before === value
      ? []
      : change(
          `${setting} is ${value}, and the deployed stack has ${before}`,
          `CloudFormation refuses to change it: put ${setting} into cdk.json as it was, or deploy with --parameters ${name}=${value} if you mean it`,
        );
  });

/** Settings that may have been left over by mistake. */
export function leftoverFindings(
  { writesFrozen, backupVaultArn, certificateArn }: DeploymentSettings,
  deployment: { account: string; region: string },
): Finding[] {
  const findings: Finding[] = [];
  if (writesFrozen)
    findings.push(change('writesFrozen refuses deletions and merges', 'Leave it out, unless you restore a table'));
  const [, , , region, account] = backupVaultArn?.split(':') ?? [];
  if (region === deployment.region && account === deployment.account)
    findings.push(change('backupVaultArn is of this account and region', 'Name a vault in another account or region'));
  if (certificateArn !== undefined && certificateArn.split(':')[3] !== deployment.region)
    findings.push(change('certificateArn is of another region', `Name a certificate of ${deployment.region}`));
  return findings;
}
