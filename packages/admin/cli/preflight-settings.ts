/** The requirements of a deployment's settings, read as the CDK reads them, on account and region. */
import { existsSync, readFileSync } from 'node:fs';
import { MIN_RESERVED, reservedInAll } from '../../../infra/function-settings.ts';
import {
  type DeploymentSettings,
  DeploymentSettingsError,
  readDeploymentSettings,
} from '../../../infra/stack-settings.ts';
import { UsageError } from './io.ts';

export interface Found {
  verdict: 'ok' | 'change' | 'unknown';
  found: string;
  /** The advice, if something has to be done. */
  advice?: string;
}

/** The files that contain CDK context; the first one takes precedence. */
const FILES = [
  ['cdk.json', (file: { context?: object }) => file.context],
  ['cdk.context.json', (file: object) => file],
] as const;
/** Minimum concurrent executions: fewer leave nothing to reserve. */
const MIN_CONCURRENCY = 200;
/** Executions that Lambda keeps for functions without a reservation. */
const UNRESERVED = 100;
const MIN_CAP = 2;
const CODE_STORAGE_SHARE = 0.9;

/** @param given as `-c` takes them @throws UsageError naming every setting that is wrong */
export function readSettings(given: readonly string[], root: URL): DeploymentSettings {
  const context: Record<string, unknown> = {};
  for (const [name, contextOf] of FILES.toReversed()) {
    const file = new URL(name, root);
    if (existsSync(file)) Object.assign(context, contextOf(JSON.parse(readFileSync(file, 'utf8'))));
  }
  for (const one of given) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(one) ?? [];
    if (name === undefined) throw new UsageError(`--context must be name=value, as for cdk deploy, not "${one}".`);
    context[name] = value;
  }
  try {
    return readDeploymentSettings({ tryGetContext: (name: string) => context[name] });
  } catch (error) {
    if (error instanceof DeploymentSettingsError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * @param all concurrent executions of the account
 * @param free those that no function has reserved
 * @param isDeployed what is reserved may be the stack's own
 */
export function concurrencyFindings(
  { all, free }: { all: number; free: number },
  { reservedConcurrency: reserved, mergeConcurrency, feedConcurrency, concurrencyLimit }: DeploymentSettings,
  isDeployed: boolean,
): Found[] {
  const found = `${all} executions at once, ${free} of them not reserved`;
  const before = isDeployed ? all : free;
  const own = reservedInAll(reserved);
  const most = Math.max(0, before - UNRESERVED);
  const left = before - Math.min(own, most);
  const cap = Math.max(MIN_CAP, Math.floor(left / 4));
  const backlogs = `of ${left} that are not reserved, backlogs of merges take at most ${mergeConcurrency}, of the feed ${feedConcurrency}, and relay one for each shard of the table's stream`;
  return [
    before >= MIN_CONCURRENCY
      ? { verdict: 'ok', found }
      : {
          verdict: 'change',
          found,
          advice:
            'Ask for 1000: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000',
        },
    concurrencyLimit === all
      ? { verdict: 'ok', found: `an alarm compares with ${concurrencyLimit}` }
      : {
          verdict: 'change',
          found: `an alarm compares with ${concurrencyLimit}, which is not the limit`,
          advice: `Deploy with -c concurrencyLimit=${all}`,
        },
    mergeConcurrency + feedConcurrency <= left / 2
      ? { verdict: 'ok', found: backlogs }
      : {
          verdict: 'change',
          found: `${backlogs}: that can starve the calls`,
          advice: `Deploy with -c mergeConcurrency=${Math.min(mergeConcurrency, cap)} -c feedConcurrency=${Math.min(feedConcurrency, cap)}`,
        },
    own <= most
      ? {
          verdict: 'ok',
          found: reserved === 0 ? noneReserved(Math.floor(most / 2)) : `${own} will be reserved, which leaves ${left}`,
        }
      : {
          verdict: 'change',
          found: `${own} of ${before} would be reserved, and Lambda keeps ${UNRESERVED} unreserved`,
          advice: `Deploy with -c reservedConcurrency=${asSetting(most)}`,
        },
  ];
}

/** The value for `reservedConcurrency`, which is 0 or at least the minimum. */
const asSetting = (executions: number) => (executions < MIN_RESERVED ? 0 : executions);

const noneReserved = (half: number) =>
  `nothing is reserved: merges or callers without a key can leave too few for the authorizer and the reads${
    asSetting(half) === 0 ? '' : `; -c reservedConcurrency=${half} keeps some for them`
  }`;

/** Findings on Lambda's storage for code, which earlier versions fill with `rollout=canary`. */
export function codeFindings(used: number, limit: number, { rollout }: DeploymentSettings): Found[] {
  if (rollout === 'all-at-once') return [];
  const gigabytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
  const found = `${gigabytes(used)} of ${gigabytes(limit)} GB of code are used, and ${rollout} keeps earlier versions`;
  return [
    used < CODE_STORAGE_SHARE * limit
      ? { verdict: 'ok', found }
      : { verdict: 'change', found, advice: 'Remove old versions of functions, or ask for more' },
  ];
}

/** Settings that may have been left over by mistake. */
export function intentFindings(
  { writesFrozen, backupVaultArn }: DeploymentSettings,
  place: { account: string; region: string },
): Found[] {
  const findings: Found[] = [];
  if (writesFrozen)
    findings.push({
      verdict: 'change',
      found: 'writesFrozen refuses deletions and merges',
      advice: 'Leave it out, unless you restore a table',
    });
  const [, , , region, account] = backupVaultArn?.split(':') ?? [];
  if (region === place.region && account === place.account)
    findings.push({
      verdict: 'change',
      found: 'backupVaultArn is of this account and region',
      advice: 'Name a vault that is not lost with them',
    });
  return findings;
}
