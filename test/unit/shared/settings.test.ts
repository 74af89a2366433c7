import { expect, it } from 'vitest';
import { readSettings, SettingsError } from '../../../lib/shared/settings.ts';

const read = (env: Record<string, string> = {}) => readSettings({ TABLE_NAME: 't', ...env });
const DEFAULTS = {
  ...{
    tableName: 't',
    maxBodyBytes: 262_144,
    serviceMapEnabled: true,
    writesFrozen: false,
    standby: false,
    regionDigit: 0,
    quiet: false,
  },
  ...{ feedItemsPer3Seconds: 20_000, feedItemsPerMinute: 60_000, endedAlertDays: 400, alertSilenceSeconds: 86_400 },
};

it('the settings have the values of the environment, and defaults for what is absent or empty', () => {
  const empty = { DYNAMODB_ENDPOINT: '', MAX_BODY_BYTES: '', SERVICEMAP_ENABLED: '' };
  for (const env of [{}, empty]) expect(read(env)).toEqual(DEFAULTS);
  const limits = { FEED_ITEMS_PER_3_SECONDS: '5', FEED_ITEMS_PER_MINUTE: '6', ALERT_SILENCE_SECONDS: '0' };
  const env = { DYNAMODB_ENDPOINT: 'http://localhost:8000', METRICS_NAMESPACE: 'Service/Stage', ...limits };
  expect(
    read({
      ...env,
      MAX_BODY_BYTES: '2048',
      WRITES_FROZEN: 'true',
      STANDBY: 'true',
      SERVICEMAP_ENABLED: 'false',
      QUIET: 'true',
    }),
  ).toEqual({
    ...{ tableName: 't', dynamodbEndpoint: env.DYNAMODB_ENDPOINT, metricsNamespace: env.METRICS_NAMESPACE },
    ...{ maxBodyBytes: 2_048, serviceMapEnabled: false, writesFrozen: true, standby: true, quiet: true },
    ...{ feedItemsPer3Seconds: 5, feedItemsPerMinute: 6, endedAlertDays: 400, alertSilenceSeconds: 0, regionDigit: 0 },
  });
});

it('settings that are missing or wrong are all reported together', () => {
  const env = { TABLE_NAME: '', MAX_BODY_BYTES: '12k', SERVICEMAP_ENABLED: 'no' };
  expect(() => read(env)).toThrow(SettingsError);
  expect(() => read(env)).toThrow(
    /^TABLE_NAME .*\nMAX_BODY_BYTES .* 1024 to 393216, not "12k"\nSERVICEMAP_ENABLED .*true or false, not "no"$/,
  );
  expect(() => readSettings({})).toThrow(/^TABLE_NAME is required$/);
});
