/** The settings of a deployment: CDK context (`cdk deploy -c name=value`) with defaults. docs/deploy.md says what each does. */
import type { Node } from 'constructs';
import { type SettingValues, settingValue, settingValues } from '../lib/shared/settings.ts';
import { FEWEST_RESERVED } from './concurrency.ts';

/** The settings of the functions, and those of the deployment alone. */
export interface DeploymentSettings extends SettingValues {
  /** Name of the stack; a second stack in the account needs another name. */
  stackName: string;
  /** Whether the table, and all data, is deleted with the stack. */
  ephemeral: boolean;
  /** Name of the API's stage, first part of every path of the default address. */
  stageName: string;
  /** Whether to give API Gateway, in this account and region, the role that it writes access logs with. */
  apiGatewayAccount: boolean;
  /** How long API Gateway caches the authorizer's answer for an app key. */
  authorizerCacheSeconds: number;
  /** Calls a second, and burst, of each operation, all accounts together. */
  stageRate: number;
  stageBurst: number;
  /** Concurrent executions that the account may have in the region, as an alarm needs to know. */
  concurrencyLimit: number;
  /** Concurrent executions of the account that this stack reserves for its functions; 0: none. */
  reservedConcurrency: number;
  /** Maximum merges that `finish-merges` finishes at a time. */
  mergeConcurrency: number;
  /** Maximum batches of the feed that `ingest-records` writes at a time. */
  feedConcurrency: number;
  logRetentionDays: number;
  /** How calls move to a new version of an operation. */
  rollout: (typeof ROLLOUTS)[number];
  /** Where alarms are sent; both absent: nowhere. */
  alarmEmail: string | undefined;
  alarmTopicArn: string | undefined;
  /** Minutes without a call that raise an alarm; 0: none. */
  noTrafficMinutes: number;
  /** Name of a secret with an app key, which a scheduled call uses; absent: there is none. */
  smokeKeySecret: string | undefined;
  /** ARN of the stream of the table that a destroyed stack left; that table is then used in place of a new one. */
  adoptTable: string | undefined;
  /** ARN of a vault of AWS Backup, in another account or region, that takes copies of backups of the table; absent: no backups. */
  backupVaultArn: string | undefined;
}

const DEFAULT_STACK_NAME = 'IncidentMonitoringRum';

const ROLLOUTS = ['all-at-once', 'canary', 'canary-forced'] as const;

/** Days that CloudWatch Logs can keep logs for. */
const RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731];

const VAULT_ARN = /^arn:aws[\w-]*:backup:[\w-]+:\d{12}:backup-vault:[\w-]+$/;
const TOPIC_ARN = /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]+$/;
const STREAM_ARN = /^arn:aws[\w-]*:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+$/;

/** Invalid settings: stops synthesis with a sentence for each. */
export class DeploymentSettingsError extends Error {
  override readonly name = 'DeploymentSettingsError';
}

/** @throws DeploymentSettingsError naming every context value that is wrong, and what it must be */
export function readDeploymentSettings(node: Pick<Node, 'tryGetContext'>): DeploymentSettings {
  const problems: string[] = [];
  const given = (name: string): string | undefined => {
    const value: unknown = node.tryGetContext(name);
    return value === undefined ? undefined : String(value);
  };
  const wrong = (name: string, must: string) => problems.push(`Context ${name} must be ${must}, not "${given(name)}".`);
  const text = (name: string, pattern: RegExp, must: string) => {
    const value = given(name);
    if (value !== undefined && !pattern.test(value)) wrong(name, must);
    return value;
  };
  const integer = (name: string, fallback: number, min: number, max: number) =>
    Number(settingValue({ type: 'integer', default: fallback, min, max }, given(name), (must) => wrong(name, must)));
  const flag = (name: string, fallback: boolean) =>
    settingValue({ type: 'flag', default: fallback }, given(name), (must) => wrong(name, must)) === true;

  const rollout = text('rollout', new RegExp(`^(${ROLLOUTS.join('|')})$`), `one of ${ROLLOUTS.join(', ')}`);
  const days = text(
    'logRetentionDays',
    new RegExp(`^(${RETENTION_DAYS.join('|')})$`),
    `one of ${RETENTION_DAYS.join(', ')}`,
  );
  const settings: DeploymentSettings = {
    stackName:
      text('stackName', /^[A-Za-z][A-Za-z0-9-]{0,63}$/, '1 to 64 letters, digits or hyphens, a letter first') ??
      DEFAULT_STACK_NAME,
    ephemeral: flag('ephemeral', false),
    stageName: text('stageName', /^[A-Za-z0-9_]{1,128}$/, '1 to 128 letters, digits or underscores') ?? 'prod',
    apiGatewayAccount: flag('apiGatewayAccount', true),
    ...settingValues(given, wrong),
    authorizerCacheSeconds: integer('authorizerCacheSeconds', 60, 0, 3600),
    stageRate: integer('stageRate', 1000, 1, 10_000),
    stageBurst: integer('stageBurst', 2000, 1, 5_000),
    concurrencyLimit: integer('concurrencyLimit', 1000, 10, 1_000_000),
    reservedConcurrency: integer('reservedConcurrency', 0, 0, 1_000_000),
    mergeConcurrency: integer('mergeConcurrency', 20, 2, 1000),
    feedConcurrency: integer('feedConcurrency', 10, 2, 1000),
    logRetentionDays: Number(days ?? 30),
    rollout: ROLLOUTS.find((one) => one === rollout) ?? 'all-at-once',
    alarmEmail: text('alarmEmail', /^[^@\s]+@[^@\s]+$/, 'an e-mail address'),
    backupVaultArn: text('backupVaultArn', VAULT_ARN, 'the ARN of a backup vault'),
    alarmTopicArn: text('alarmTopicArn', TOPIC_ARN, 'the ARN of an SNS topic'),
    // An alarm looks back a day at the most.
    noTrafficMinutes: integer('noTrafficMinutes', 0, 0, 1440),
    smokeKeySecret: text('smokeKeySecret', /^[\w/+=.@-]{1,512}$/, 'the name of a secret in Secrets Manager'),
    adoptTable: text('adoptTable', STREAM_ARN, "the LatestStreamArn of a table's description"),
  };
  if (settings.ephemeral && (settings.stackName === DEFAULT_STACK_NAME || settings.adoptTable !== undefined))
    problems.push('Context ephemeral requires a stackName of its own, and no adoptTable.');
  const { reservedConcurrency: reserved } = settings;
  if (reserved > 0 && reserved < FEWEST_RESERVED) wrong('reservedConcurrency', `0 or at least ${FEWEST_RESERVED}`);
  if (problems.length > 0) throw new DeploymentSettingsError(problems.join('\n'));
  return settings;
}
