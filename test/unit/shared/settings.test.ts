import { describe, expect, it } from 'vitest';
import { optionalVariable, readSettings, requiredVariable, SettingsError } from '../../../lib/shared/settings.ts';

const read = (env: Record<string, string> = {}) => readSettings({ TABLE_NAME: 't', ...env });

describe('the settings', () => {
  it.each([
    ['defaults', {}, { maxBodyBytes: 262_144, serviceMapEnabled: true }],
    [
      'values of the environment',
      {
        ...{ DYNAMODB_ENDPOINT: 'http://localhost:8000', MAX_BODY_BYTES: '2048', METRICS_NAMESPACE: 'Service/Stage' },
        ...{ WRITES_FROZEN: 'true', SERVICEMAP_ENABLED: 'false', QUIET: 'true' },
      },
      {
        ...{ dynamodbEndpoint: 'http://localhost:8000', maxBodyBytes: 2048, metricsNamespace: 'Service/Stage' },
        ...{ writesFrozen: true, serviceMapEnabled: false, quiet: true },
      },
    ],
    [
      'defaults for what is empty',
      { DYNAMODB_ENDPOINT: '', MAX_BODY_BYTES: '', SERVICEMAP_ENABLED: '' },
      { maxBodyBytes: 262_144, serviceMapEnabled: true },
    ],
  ])('have %s', (_what, env, expected) => {
    expect(read(env)).toEqual({ tableName: 't', writesFrozen: false, quiet: false, ...expected });
  });

  it('that are missing or wrong are all reported together', () => {
    const env = { TABLE_NAME: '', MAX_BODY_BYTES: '12k', SERVICEMAP_ENABLED: 'no' };
    const message =
      'TABLE_NAME is required\n' +
      'MAX_BODY_BYTES must be an integer from 1024 to 393216, not "12k"\n' +
      'SERVICEMAP_ENABLED must be true or false, not "no"';
    expect(() => read(env)).toThrow(expect.objectContaining({ name: 'SettingsError', message }));
    expect(() => readSettings({})).toThrow(new SettingsError('TABLE_NAME is required'));
  });

  it.each([
    ['MAX_BODY_BYTES', ['1024', '393216'], ['1023', '393217', 'x2048', '2048x', '2e3', '2048.0', '-2048']],
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
