import { describe, expect, it } from 'vitest';
import { optionalVariable, readSettings, requiredVariable, SettingsError } from '../../lib/shared/settings.ts';

const read = (env: Record<string, string> = {}) => readSettings({ TABLE_NAME: 't', ...env });

describe('the settings', () => {
  it.each([
    ['defaults', {}, { maxBodyBytes: 262_144, appKeyCacheSeconds: 30, rumCacheSeconds: 60, serviceMapEnabled: true }],
    [
      'values of the environment',
      {
        ...{ DYNAMODB_ENDPOINT: 'http://localhost:8000', MAX_BODY_BYTES: '2048', APP_KEY_CACHE_SECONDS: '0' },
        ...{ RUM_CACHE_SECONDS: '5', WRITES_FROZEN: 'true', SERVICEMAP_ENABLED: 'false', QUIET: 'true' },
        ...{ METRICS_NAMESPACE: 'Service/Stage', AWS_LAMBDA_FUNCTION_VERSION: '7' },
      },
      {
        ...{ dynamodbEndpoint: 'http://localhost:8000', maxBodyBytes: 2048, appKeyCacheSeconds: 0 },
        ...{ rumCacheSeconds: 5, writesFrozen: true, serviceMapEnabled: false, quiet: true },
        ...{ metricsNamespace: 'Service/Stage', functionVersion: '7' },
      },
    ],
    [
      'no version for $LATEST, and defaults for what is empty',
      {
        ...{ AWS_LAMBDA_FUNCTION_VERSION: '$LATEST', DYNAMODB_ENDPOINT: '', MAX_BODY_BYTES: '' },
        ...{ APP_KEY_CACHE_SECONDS: '', RUM_CACHE_SECONDS: '', SERVICEMAP_ENABLED: '' },
      },
      { maxBodyBytes: 262_144, appKeyCacheSeconds: 30, rumCacheSeconds: 60, serviceMapEnabled: true },
    ],
  ])('have %s', (_what, env, expected) => {
    expect(read(env)).toEqual({ tableName: 't', writesFrozen: false, quiet: false, ...expected });
  });

  it('that are missing or wrong are all reported together', () => {
    const env = { TABLE_NAME: '', MAX_BODY_BYTES: '12k', RUM_CACHE_SECONDS: '-1', SERVICEMAP_ENABLED: 'no' };
    const message =
      'TABLE_NAME is required\n' +
      'MAX_BODY_BYTES must be an integer from 1024 to 393216, not "12k"\n' +
      'RUM_CACHE_SECONDS must be an integer from 0 to 3600, not "-1"\n' +
      'SERVICEMAP_ENABLED must be true or false, not "no"';
    expect(() => read(env)).toThrow(expect.objectContaining({ name: 'SettingsError', message }));
    expect(() => readSettings({})).toThrow(new SettingsError('TABLE_NAME is required'));
  });

  it.each([
    ['MAX_BODY_BYTES', ['1024', '393216'], ['1023', '393217', 'x2048', '2048x', '2e3', '2048.0', '-2048']],
    ['APP_KEY_CACHE_SECONDS', ['0', '30'], ['31']],
    ['RUM_CACHE_SECONDS', ['0', '3600'], ['3601']],
    ['SERVICEMAP_ENABLED', ['true', 'false'], ['TRUE', '1']],
    ['QUIET', ['true', 'false'], ['TRUE', '1']],
  ])('%s may be one of %j, and none of %j', (name, valid, invalid) => {
    for (const value of valid) expect(() => read({ [name]: value })).not.toThrow();
    for (const value of invalid)
      expect(() => read({ [name]: value })).toThrow(new RegExp(`^${name} must be .*, not "${value}"$`));
  });
});

it('a variable that is empty counts as absent', () => {
  expect([optionalVariable('A', { A: 'a' }), requiredVariable('A', { A: 'a' })]).toEqual(['a', 'a']);
  for (const env of [{ A: '' }, {}]) {
    expect(optionalVariable('A', env)).toBeUndefined();
    expect(() => requiredVariable('A', env)).toThrow(new SettingsError('A is required'));
  }
});
