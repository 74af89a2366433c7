/** The settings of a stage, from the CDK context, with defaults. docs/deploy.md says what each does. */

import { existsSync, readFileSync } from 'node:fs';
import { closest } from 'fastest-levenshtein';
import { type SettingSpec, settingValue, settingValues } from '../lib/shared/settings.ts';
import { MIN_RESERVED } from './function-settings.ts';

const DEFAULT_STACK_NAME = 'IncidentMonitoringRum';

/** The log retentions that can be chosen: those of CloudWatch Logs up to two years. */
const RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731];

const VAULT_ARN = /^arn:aws[\w-]*:backup:[\w-]+:\d{12}:backup-vault:[\w-]+$/;
const EMAIL_OR_TOPIC = /^([^@\s]+@[^@\s]+|arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w-]+)$/;
/** A queue's policy has at most 50 principals, and three of them are not accounts. */
const FEED_ACCOUNTS = /^\d{12}(,\d{12}){0,46}$/;
const CERTIFICATE_ARN = /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/;
const WEB_ACL_ARN = /^arn:aws[\w-]*:wafv2:[\w-]+:\d{12}:regional\/webacl\/[\w/-]+$/;
const REGION = /^[a-z]{2}(-[a-z]+)+-\d$/;
const REGIONS = /^[a-z]{2}(-[a-z]+)+-\d(,[a-z]{2}(-[a-z]+)+-\d)*$/;
const STREAM_ARN = /^arn:aws[\w-]*:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+$/;

/** Thrown once for all invalid settings; the message has a line for each. */
export class DeploymentSettingsError extends Error {
  override readonly name = 'DeploymentSettingsError';
}

export type DeploymentSettings = ReturnType<typeof readDeploymentSettings>;

/** CDK context: the settings of `-c`, and in `stages` the settings of each stage by its stack name. */
type StageContext = Readonly<Record<string, unknown>>;

/**
 * Reads the settings of a stage: those of its block in `stages`, unless `-c` gives another value. An empty value is the default.
 * @throws DeploymentSettingsError that names every invalid setting and what it must be, and every name that is no setting
 */
export function readDeploymentSettings(context: StageContext) {
  const problems: string[] = [];
  const stackName = String(context.stackName || DEFAULT_STACK_NAME);
  const stage = (context.stages as Record<string, StageContext> | undefined)?.[stackName] ?? {};
  const contextValue = (name: string): string | undefined => {
    const value = context[name] ?? stage[name] ?? '';
    return value === '' ? undefined : String(value);
  };
  const addProblem = (name: string, requirement: string) =>
    problems.push(`Context ${name} must be ${requirement}, not "${contextValue(name)}".`);
  const text = (name: string, pattern: RegExp, requirement: string) => {
    const value = contextValue(name);
    if (value !== undefined && !pattern.test(value)) addProblem(name, requirement);
    return value;
  };
  const parsed = (name: string, spec: SettingSpec) =>
    settingValue(spec, contextValue(name), (requirement) => addProblem(name, requirement));
  const integer = (name: string, fallback: number, min: number, max: number) =>
    Number(parsed(name, { type: 'integer', default: fallback, min, max }));
  const flag = (name: string, fallback: boolean) => parsed(name, { type: 'flag', default: fallback }) === true;

  if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(stackName))
    addProblem('stackName', '1 to 64 letters, digits or hyphens, a letter first');
  const settings = {
    stackName,
    logRetentionDays: Number(
      text('logRetentionDays', new RegExp(`^(${RETENTION_DAYS.join('|')})$`), `one of ${RETENTION_DAYS.join(', ')}`) ??
        30,
    ),
    ephemeral: flag('ephemeral', false),
    stageName: text('stageName', /^[A-Za-z0-9_]{1,128}$/, '1 to 128 letters, digits or underscores') ?? 'prod',
    apiGatewayAccount: flag('apiGatewayAccount', true),
    ...settingValues(contextValue, addProblem),
    stageRate: integer('stageRate', 1000, 1, 10_000),
    reservedConcurrency: integer('reservedConcurrency', 0, 0, 1_000_000),
    mergeConcurrency: integer('mergeConcurrency', 20, 2, 1000),
    feedConcurrency: integer('feedConcurrency', 10, 2, 1000),
    maxWriteUnits: integer('maxWriteUnits', 4000, 1, 1_000_000),
    pageTo: text('pageTo', EMAIL_OR_TOPIC, 'an e-mail address or the ARN of an SNS topic'),
    ticketTo: text('ticketTo', EMAIL_OR_TOPIC, 'an e-mail address or the ARN of an SNS topic'),
    runbookUrl:
      text('runbookUrl', /^https:\/\/[^\s#]+$/, 'the https address of your copy of docs/runbook.md') ??
      'docs/runbook.md',
    feedAccounts:
      text('feedAccounts', FEED_ACCOUNTS, 'at most 47 ids of AWS accounts, separated by commas')?.split(',') ?? [],
    backupVaultArn: text('backupVaultArn', VAULT_ARN, 'the ARN of a backup vault'),
    adoptTable: text('adoptTable', STREAM_ARN, "the LatestStreamArn of a table's description"),
    region: text('region', REGION, 'a region'),
    replicaRegions: text('replicaRegions', REGIONS, 'regions, separated by commas')?.split(',') ?? [],
    domainName: text('domainName', /^([a-z0-9-]+\.)+[a-z]+$/, 'a domain name in lower case'),
    certificateArn: text('certificateArn', CERTIFICATE_ARN, 'the ARN of a certificate of ACM'),
    disableExecuteApiEndpoint: flag('disableExecuteApiEndpoint', false),
    webAclArn: text('webAclArn', WEB_ACL_ARN, 'the ARN of a regional web ACL'),
    tags: tagsOf(text('tags', /^[^=,]+=[^=,]*(,[^=,]+=[^=,]*)*$/, 'tags as name=value,name=value')),
  };
  if (settings.ephemeral && (stackName === DEFAULT_STACK_NAME || settings.adoptTable !== undefined))
    problems.push('Context ephemeral requires a stackName of its own, and no adoptTable.');
  if (settings.replicaRegions.length > 0 && settings.ephemeral)
    problems.push('Context replicaRegions is not for ephemeral stacks.');
  if ((settings.standby || settings.replicaRegions.length > 0) && settings.regionDigit === 0)
    problems.push(
      'Context regionDigit must be another digit from 1 to 9 in each region, since the table has replicas: merges of two regions then never have the same sequence.',
    );
  if ([settings.domainName, settings.certificateArn].filter((value) => value !== undefined).length === 1)
    problems.push('Context domainName and certificateArn require each other.');
  if (settings.disableExecuteApiEndpoint && settings.domainName === undefined)
    problems.push('Context disableExecuteApiEndpoint requires a domainName.');
  const { reservedConcurrency: reserved } = settings;
  if (reserved > 0 && reserved < MIN_RESERVED) addProblem('reservedConcurrency', `0 or at least ${MIN_RESERVED}`);
  const names = Object.keys(settings);
  // Other tools' context has names with a colon, a slash or a hyphen, such as `@aws-cdk/core:checkSecretUsage`.
  const given = Object.keys(context).filter((key) => /^\w+$/.test(key) && key !== 'stages');
  for (const name of [...given, ...Object.keys(stage)])
    if (!names.includes(name)) problems.push(`Context ${name} is no setting: did you mean ${closest(name, names)}?`);
  if (problems.length > 0) throw new DeploymentSettingsError(problems.join('\n'));
  return settings;
}

/**
 * The settings that a deployment must not change by mistake, and their values in the stack's parameters, by the parameter's name: another
 * table has other data, a replica that is left out is deleted, and what is written when a freeze ends during a restore, or in two regions at
 * a time, is lost.
 */
export const keptSettings = ({
  adoptTable,
  replicaRegions,
  writesFrozen,
  standby,
}: DeploymentSettings): Record<string, { setting: string; value: string }> => ({
  AdoptedTable: { setting: 'adoptTable', value: adoptTable ?? 'none' },
  ReplicaRegions: { setting: 'replicaRegions', value: replicaRegions.join(',') || 'none' },
  WritesFrozen: { setting: 'writesFrozen', value: String(writesFrozen) },
  Standby: { setting: 'standby', value: String(standby) },
});

const tagsOf = (text: string | undefined): Record<string, string> | undefined =>
  text && Object.fromEntries(text.split(',').map((tag) => tag.split('=')));

const CONTEXT_FILES = ['cdk.context.json', 'cdk.json'];

/**
 * The CDK context that files of the checkout give to each deployment.
 * @param root the folder of cdk.json
 * @throws DeploymentSettingsError if a file has a setting outside `stages`: it would hold for every stage
 */
export function readContextFiles(root: URL): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  const names = Object.keys(readDeploymentSettings({}));
  for (const file of CONTEXT_FILES) {
    const path = new URL(file, root);
    if (!existsSync(path)) continue;
    const content = JSON.parse(readFileSync(path, 'utf8'));
    const context: Record<string, unknown> = file === 'cdk.json' ? content.context : content;
    const misplaced = Object.keys(context).filter((name) => names.includes(name));
    if (misplaced.length > 0)
      throw new DeploymentSettingsError(
        `${file} sets ${misplaced.join(', ')} for every stage: move it to stages.<stackName> of the context in cdk.json.`,
      );
    Object.assign(all, context);
  }
  return all;
}
