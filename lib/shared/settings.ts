/** The settings of a deployment, read once from the environment. */

/** Type, default and bounds of a setting. */
export type SettingSpec =
  | {
      readonly type: 'integer';
      readonly default: number;
      readonly min: number;
      readonly max: number;
      /** Whether 0, which means none, is taken beside what the bounds allow. */
      readonly orNone?: true;
    }
  | { readonly type: 'flag'; readonly default: boolean };

/**
 * All settings of a deployment's functions. The key is the name in CDK context; `env` is the variable of the function and of `npm start`.
 * docs/deploy.md describes them for operators.
 */
export const SETTINGS = {
  /** Largest request body, decoded. The entry of a larger merge would not fit into one row. */
  maxBodyBytes: { env: 'MAX_BODY_BYTES', type: 'integer', default: 256 * 1024, min: 1024, max: 384 * 1024 },
  /** How many records and alerts an account may send to the feed over HTTPS in 3 seconds, and in a minute: each counts once for each KB begun. */
  feedItemsPer3Seconds: { env: 'FEED_ITEMS_PER_3_SECONDS', type: 'integer', default: 20_000, min: 1, max: 1_000_000 },
  feedItemsPerMinute: { env: 'FEED_ITEMS_PER_MINUTE', type: 'integer', default: 60_000, min: 1, max: 20_000_000 },
  /** Seconds without a notification after which an alert of Alertmanager ends by itself; 0: it does not. The bounds are those of `silent_after_s`. */
  alertSilenceSeconds: {
    env: 'ALERT_SILENCE_SECONDS',
    type: 'integer',
    default: 86_400,
    min: 60,
    max: 2_592_000,
    orNone: true,
  },
  /**
   * Days for which an ended alert and its key are kept after a record last told its end. Longer than queues keep a record, which would open it
   * anew if it came again.
   */
  endedAlertDays: { env: 'ENDED_ALERT_DAYS', type: 'integer', default: 400, min: 30, max: 3_650 },
  /**
   * Whether deletions and merges are refused and records of the feed wait in their queue, as before a restore. Large merges that are already
   * committed are still finished.
   */
  writesFrozen: { env: 'WRITES_FROZEN', type: 'flag', default: false },
  /**
   * Whether the service of another region writes to the table, of which this one has a replica. Then this one takes nothing in, and writes
   * nothing but the counts of rate limits: as between the writes of two regions DynamoDB keeps the later version of a row, whatever is in the other.
   */
  standby: { env: 'STANDBY', type: 'flag', default: false },
  /** The last digit of the sequences of merges, of a service in two regions, in each another one; 0: any. */
  regionDigit: { env: 'REGION_DIGIT', type: 'integer', default: 0, min: 0, max: 9 },
  /** Whether this deployment has the service-map subsystem. */
  serviceMapEnabled: { env: 'SERVICEMAP_ENABLED', type: 'flag', default: true },
} as const satisfies Record<string, SettingSpec & { readonly env: string }>;

export type SettingValues = {
  [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]['type'] extends 'integer' ? number : boolean;
};

export interface Settings extends SettingValues {
  /** `TABLE_NAME` */
  tableName: string;
  /** `DYNAMODB_ENDPOINT`: a DynamoDB-compatible server to use in place of AWS. */
  dynamodbEndpoint: string | undefined;
  /** `METRICS_NAMESPACE`: the namespace of this stack's own metrics. */
  metricsNamespace: string | undefined;
  /** `QUIET`: logs only errors and why calls failed, and no metrics. For `npm start`, which prints each call itself. */
  quiet: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings are missing or invalid; the message has a line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** The variables of this process. Functions read them only through this file. */
const PROCESS_ENV: Environment = process.env;

/** The value of a variable that the function requires. @throws SettingsError if it is absent or empty */
export function requiredVariable(name: string, env: Environment = PROCESS_ENV): string {
  const value = env[name];
  if (!value) throw new SettingsError(`${name} is required`);
  return value;
}

/** The value of a variable; undefined if it is absent or empty. */
export const optionalVariable = (name: string, env: Environment = PROCESS_ENV): string | undefined =>
  env[name] || undefined;

/**
 * Parses the text of a setting; undefined gives the default.
 * @param onInvalid called for an invalid text with what the value must be
 */
export function settingValue(
  spec: SettingSpec,
  text: string | undefined,
  onInvalid: (requirement: string) => void,
): number | boolean {
  if (text === undefined) return spec.default;
  if (spec.type === 'flag') {
    if (text !== 'true' && text !== 'false') onInvalid('true or false');
    return text === 'true';
  }
  const { min, max, orNone } = spec;
  const number = Number(text);
  const isTaken = (number >= min && number <= max) || (orNone && number === 0);
  if (!/^\d+$/.test(text) || !isTaken) onInvalid(`${orNone ? '0 or ' : ''}an integer from ${min} to ${max}`);
  return number;
}

/** Parses the values of all {@link SETTINGS}. @param textOf the text of a setting; undefined gives the default */
export const settingValues = (
  textOf: (name: keyof typeof SETTINGS) => string | undefined,
  onInvalid: (name: keyof typeof SETTINGS, requirement: string) => void,
): SettingValues =>
  Object.fromEntries(
    Object.entries(SETTINGS).map(([key, setting]) => {
      const name = key as keyof typeof SETTINGS;
      return [name, settingValue(setting, textOf(name), (requirement) => onInvalid(name, requirement))];
    }),
  ) as SettingValues;

/** Reads the settings. @throws SettingsError that names every missing or invalid variable, and what it must be */
export function readSettings(env: Environment = PROCESS_ENV): Settings {
  const problems: string[] = [];
  const textOf = (variable: string) => optionalVariable(variable, env);
  const addProblem = (variable: string, requirement: string) =>
    problems.push(`${variable} must be ${requirement}, not "${env[variable]}"`);

  const flag = (name: string) =>
    settingValue({ type: 'flag', default: false }, textOf(name), (requirement) => addProblem(name, requirement)) ===
    true;

  const { TABLE_NAME: tableName = '' } = env;
  if (!tableName) problems.push('TABLE_NAME is required');
  const settings: Settings = {
    tableName,
    dynamodbEndpoint: textOf('DYNAMODB_ENDPOINT'),
    ...settingValues(
      (name) => textOf(SETTINGS[name].env),
      (name, requirement) => addProblem(SETTINGS[name].env, requirement),
    ),
    metricsNamespace: textOf('METRICS_NAMESPACE'),
    quiet: flag('QUIET'),
  };
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  return settings;
}

/** How long the parts of a call may take, in milliseconds. */
export const TIME_LIMITS = {
  /**
   * The whole call, from its arrival at API Gateway; of the time before the handler starts, at most one second counts. When the time is up,
   * calls to DynamoDB are cancelled, which leaves time to answer within 3 s.
   */
  callMs: 2_700,
  /** The authorizer's lookup of the app key, which counts towards `callMs`. If it takes longer, it fails, and API Gateway answers 503. */
  authorizerMs: 900,
  /** Reading the inventory for a fleet page, which then ends early. DynamoDB reads 1 MB at a time, and rows may be large. */
  inventoryMs: 800,
  /** Reading the live status of a fleet page's hosts. What is not read by then counts as unreadable. */
  liveStatusMs: 1_000,
};

export type TimeLimits = typeof TIME_LIMITS;
