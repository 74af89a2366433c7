import { describe, expect, it } from 'vitest';
import { optionalVariable, readSettings, requiredVariable, SettingsError } from '../../lib/shared/settings.ts';

const problemsOf = (env: Record<string, string>) => {
  try {
    readSettings(env);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).name).toBe('SettingsError');
    return (error as SettingsError).message.split('\n');
  }
  return [];
};

describe('the settings', () => {
  it('have these defaults', () => {
    expect(readSettings({ TABLE_NAME: 't' })).toEqual({
      tableName: 't',
      dynamodbEndpoint: undefined,
      maxBodyBytes: 262_144,
      appKeyCacheSeconds: 30,
      rumCacheSeconds: 60,
      writesFrozen: false,
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
      WRITES_FROZEN: 'true',
      SERVICEMAP_ENABLED: 'false',
      METRICS_NAMESPACE: 'Service/Stage',
      AWS_LAMBDA_FUNCTION_VERSION: '7',
      QUIET: 'true',
    };
    expect(readSettings(env)).toEqual({
      metricsNamespace: 'Service/Stage',
      functionVersion: '7',
      tableName: 't',
      dynamodbEndpoint: 'http://localhost:8000',
      maxBodyBytes: 2048,
      appKeyCacheSeconds: 0,
      rumCacheSeconds: 5,
      writesFrozen: true,
      serviceMapEnabled: false,
      quiet: true,
    });
  });

  it('have no version for $LATEST', () => {
    expect(readSettings({ TABLE_NAME: 't', AWS_LAMBDA_FUNCTION_VERSION: '$LATEST' }).functionVersion).toBeUndefined();
  });

  it('that are optional may be left out or empty', () => {
    expect(['A', 'B', 'C'].map((name) => optionalVariable(name, { A: 'a', B: '' }))).toEqual([
      'a',
      undefined,
      undefined,
    ]);
  });

  it('that are missing or wrong are all reported together', () => {
    const env = {
      MAX_BODY_BYTES: '12k',
      APP_KEY_CACHE_SECONDS: '31',
      RUM_CACHE_SECONDS: '-1',
      SERVICEMAP_ENABLED: 'no',
    };
    expect(problemsOf(env)).toEqual([
      'TABLE_NAME is required',
      'MAX_BODY_BYTES must be an integer from 1024 to 3145728, not "12k"',
      'APP_KEY_CACHE_SECONDS must be an integer from 0 to 30, not "31"',
      'RUM_CACHE_SECONDS must be an integer from 0 to 3600, not "-1"',
      'SERVICEMAP_ENABLED must be true or false, not "no"',
    ]);
  });

  it.each([
    ['MAX_BODY_BYTES', ['1024', '3145728'], ['1023', '3145729', 'x2048', '2048x', '2e3', '2048.0', '-2048']],
    ['APP_KEY_CACHE_SECONDS', ['0', '30'], ['31']],
    ['RUM_CACHE_SECONDS', ['0', '3600'], ['3601']],
  ])('%s may be one of %j, and none of %j', (name, right, wrong) => {
    for (const value of right) expect(problemsOf({ TABLE_NAME: 't', [name]: value })).toEqual([]);
    for (const value of wrong) expect(problemsOf({ TABLE_NAME: 't', [name]: value })).toHaveLength(1);
  });

  it.each(['SERVICEMAP_ENABLED', 'WRITES_FROZEN', 'QUIET'])('%s is true or false', (name) => {
    for (const value of ['true', 'false']) expect(problemsOf({ TABLE_NAME: 't', [name]: value })).toEqual([]);
    expect(problemsOf({ TABLE_NAME: 't', [name]: 'TRUE' })).toEqual([`${name} must be true or false, not "TRUE"`]);
    expect(readSettings({ TABLE_NAME: 't', SERVICEMAP_ENABLED: 'true', QUIET: 'false' })).toMatchObject({
      serviceMapEnabled: true,
      quiet: false,
    });
  });

  it('that are empty count as not given', () => {
    const env = { MAX_BODY_BYTES: '', SERVICEMAP_ENABLED: '', DYNAMODB_ENDPOINT: '' };
    expect(problemsOf({ TABLE_NAME: 't', ...env })).toEqual([]);
    expect(problemsOf({ TABLE_NAME: '' })).toEqual(['TABLE_NAME is required']);
  });
});

describe('a required variable', () => {
  it('is read', () => {
    expect(requiredVariable('ALLOWED_METHODS', { ALLOWED_METHODS: '{}' })).toBe('{}');
  });

  it.each([{}, { ALLOWED_METHODS: '' }])('is missing in %j', (env) => {
    expect(() => requiredVariable('ALLOWED_METHODS', env)).toThrow(new SettingsError('ALLOWED_METHODS is required'));
  });
});
