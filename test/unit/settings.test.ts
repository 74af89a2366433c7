import { describe, expect, it } from 'vitest';
import { readSettings, SettingsError } from '../../lib/settings.ts';

const told = (env: Record<string, string>) => {
  try {
    readSettings(env);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as SettingsError).message.split('\n');
  }
  return [];
};

describe('the settings', () => {
  it('have the defaults of the decisions', () => {
    expect(readSettings({ TABLE_NAME: 't' })).toEqual({
      tableName: 't',
      dynamodbEndpoint: undefined,
      maxBodyBytes: 262_144,
      appKeyCacheSeconds: 30,
      rumCacheSeconds: 60,
      serviceMapEnabled: true,
      quiet: false,
    });
  });

  it('are read from the environment', () => {
    const env = {
      TABLE_NAME: 't',
      DYNAMODB_ENDPOINT: 'http://localhost:8000',
      MAX_BODY_BYTES: '2048',
      APP_KEY_CACHE_SECONDS: '0',
      RUM_CACHE_SECONDS: '5',
      SERVICEMAP_ENABLED: 'false',
      QUIET: 'true',
    };
    expect(readSettings(env)).toEqual({
      tableName: 't',
      dynamodbEndpoint: 'http://localhost:8000',
      maxBodyBytes: 2048,
      appKeyCacheSeconds: 0,
      rumCacheSeconds: 5,
      serviceMapEnabled: false,
      quiet: true,
    });
  });

  it('that are missing or wrong are reported all together', () => {
    const env = {
      MAX_BODY_BYTES: '12k',
      APP_KEY_CACHE_SECONDS: '31',
      RUM_CACHE_SECONDS: '-1',
      SERVICEMAP_ENABLED: 'no',
    };
    expect(told(env)).toEqual([
      'TABLE_NAME is required',
      'MAX_BODY_BYTES must be an integer from 1024 to 3145728, not "12k"',
      'APP_KEY_CACHE_SECONDS must be an integer from 0 to 30, not "31"',
      'RUM_CACHE_SECONDS must be an integer from 0 to 3600, not "-1"',
      'SERVICEMAP_ENABLED must be true or false, not "no"',
    ]);
  });

  it('that are empty count as not given', () => {
    const env = { MAX_BODY_BYTES: '', SERVICEMAP_ENABLED: '', DYNAMODB_ENDPOINT: '' };
    expect(told({ TABLE_NAME: 't', ...env })).toEqual([]);
    expect(told({ TABLE_NAME: '' })).toEqual(['TABLE_NAME is required']);
  });
});
