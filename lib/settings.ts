/** The settings of a deployment, read once from the environment; all problems are reported together. */

export interface Settings {
  /** `TABLE_NAME` */
  tableName: string;
  /** `DYNAMODB_ENDPOINT`: a DynamoDB-compatible server to use in place of AWS. */
  dynamodbEndpoint: string | undefined;
  /** `MAX_BODY_BYTES`: largest request body, decoded. Above 3 MiB its event could be larger than Lambda takes. */
  maxBodyBytes: number;
  /** `APP_KEY_CACHE_SECONDS`: how long a warm handler trusts a key that it has looked up. */
  appKeyCacheSeconds: number;
  /** `RUM_CACHE_SECONDS`: how long a warm handler serves a RUM record without reading it again. */
  rumCacheSeconds: number;
  /** `SERVICEMAP_ENABLED`: whether this deployment has the service-map subsystem. */
  serviceMapEnabled: boolean;
  /** `QUIET`: no log line and no metric for each call; for `npm start`, which prints each call itself. */
  quiet: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown once for all settings that are missing or wrong; the message has a line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** @throws SettingsError naming every variable that is missing or wrong, and what it must be. */
export function readSettings(env: Environment): Settings {
  const problems: string[] = [];

  const text = (name: string) => {
    const value = env[name] ?? '';
    if (!value) problems.push(`${name} is required`);
    return value;
  };
  const integer = (name: string, fallback: number, min: number, max: number) => {
    const value = env[name];
    if (value === undefined || value === '') return fallback;
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max)
      problems.push(`${name} must be an integer from ${min} to ${max}, not "${value}"`);
    return number;
  };
  const flag = (name: string, fallback: boolean) => {
    const value = env[name];
    if (value === undefined || value === '') return fallback;
    if (value !== 'true' && value !== 'false') problems.push(`${name} must be true or false, not "${value}"`);
    return value === 'true';
  };

  const settings: Settings = {
    tableName: text('TABLE_NAME'),
    dynamodbEndpoint: env.DYNAMODB_ENDPOINT || undefined,
    maxBodyBytes: integer('MAX_BODY_BYTES', 256 * 1024, 1024, 3 * 1024 * 1024),
    appKeyCacheSeconds: integer('APP_KEY_CACHE_SECONDS', 30, 0, 30),
    rumCacheSeconds: integer('RUM_CACHE_SECONDS', 60, 0, 3600),
    serviceMapEnabled: flag('SERVICEMAP_ENABLED', true),
    quiet: flag('QUIET', false),
  };
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  return settings;
}
