/** The settings of a deployment: CDK context (`cdk deploy -c name=value`) with defaults. docs/deploy.md says what each does. */
import type { Node } from 'constructs';
import { settingValue, settingValues } from '../lib/shared/settings.ts';
import { MIN_RESERVED } from './function-settings.ts';

const DEFAULT_STACK_NAME = 'IncidentMonitoringRum';

/** The log retentions that can be chosen: those of CloudWatch Logs up to two years. */
const RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731];

const VAULT_ARN = /^arn:aws[\w-]*:backup:[\w-]+:\d{12}:backup-vault:[\w-]+$/;
const TOPIC_ARN = /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]+$/;
const STREAM_ARN = /^arn:aws[\w-]*:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+$/;

/** Thrown once for all invalid settings; the message has a line for each. */
export class DeploymentSettingsError extends Error {
  override readonly name = 'DeploymentSettingsError';
}

export type DeploymentSettings = ReturnType<typeof readDeploymentSettings>;

/** @throws DeploymentSettingsError that names every invalid setting, and what it must be */
export function readDeploymentSettings(node: Pick<Node, 'tryGetContext'>) {
  const problems: string[] = [];
  const contextValue = (name: string): string | undefined => {
    const value: unknown = node.tryGetContext(name);
    return value === undefined ? undefined : String(value);
  };
  const addProblem = (name: string, requirement: string) =>
    problems.push(`Context ${name} must be ${requirement}, not "${contextValue(name)}".`);
  const text = (name: string, pattern: RegExp, requirement: string) => {
    const value = contextValue(name);
    if (value !== undefined && !pattern.test(value)) addProblem(name, requirement);
    return value;
  };
  const integer = (name: string, fallback: number, min: number, max: number) =>
    Number(
      settingValue({ type: 'integer', default: fallback, min, max }, contextValue(name), (requirement) =>
        addProblem(name, requirement),
      ),
    );
  const flag = (name: string, fallback: boolean) =>
    settingValue({ type: 'flag', default: fallback }, contextValue(name), (requirement) =>
      addProblem(name, requirement),
    ) === true;

  const settings = {
    logRetentionDays: Number(
      text('logRetentionDays', new RegExp(`^(${RETENTION_DAYS.join('|')})$`), `one of ${RETENTION_DAYS.join(', ')}`) ??
        30,
    ),
    stackName:
      text('stackName', /^[A-Za-z][A-Za-z0-9-]{0,63}$/, '1 to 64 letters, digits or hyphens, a letter first') ??
      DEFAULT_STACK_NAME,
    ephemeral: flag('ephemeral', false),
    stageName: text('stageName', /^[A-Za-z0-9_]{1,128}$/, '1 to 128 letters, digits or underscores') ?? 'prod',
    apiGatewayAccount: flag('apiGatewayAccount', true),
    ...settingValues(contextValue, addProblem),
    stageRate: integer('stageRate', 1000, 1, 10_000),
    reservedConcurrency: integer('reservedConcurrency', 0, 0, 1_000_000),
    mergeConcurrency: integer('mergeConcurrency', 20, 2, 1000),
    feedConcurrency: integer('feedConcurrency', 10, 2, 1000),
    feedAccounts:
      text('feedAccounts', /^\d{12}(,\d{12})*$/, 'ids of AWS accounts, separated by commas')?.split(',') ?? [],
    alarmEmail: text('alarmEmail', /^[^@\s]+@[^@\s]+$/, 'an e-mail address'),
    backupVaultArn: text('backupVaultArn', VAULT_ARN, 'the ARN of a backup vault'),
    alarmTopicArn: text('alarmTopicArn', TOPIC_ARN, 'the ARN of an SNS topic'),
    adoptTable: text('adoptTable', STREAM_ARN, "the LatestStreamArn of a table's description"),
  };
  if (settings.ephemeral && (settings.stackName === DEFAULT_STACK_NAME || settings.adoptTable !== undefined))
    problems.push('Context ephemeral requires a stackName of its own, and no adoptTable.');
  const { reservedConcurrency: reserved } = settings;
  if (reserved > 0 && reserved < MIN_RESERVED) addProblem('reservedConcurrency', `0 or at least ${MIN_RESERVED}`);
  if (problems.length > 0) throw new DeploymentSettingsError(problems.join('\n'));
  return settings;
}
