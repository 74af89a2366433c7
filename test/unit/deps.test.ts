import { afterEach, expect, test, vi } from 'vitest';
import { createDeps } from '../../lib/deps.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  ['true', ['ERROR']],
  ['false', ['INFO', 'METRIC', 'WARN', 'ERROR']],
])('QUIET=%s prints %j', async (QUIET, printed) => {
  const lines: string[] = [];
  // Nothing listens there: to connect early is no more than an attempt.
  const env = { TABLE_NAME: 'table', DYNAMODB_ENDPOINT: 'http://127.0.0.1:1', QUIET };
  const { log, metrics, table } = await createDeps({ connections: 1, env });
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    const { level = 'METRIC' } = JSON.parse(String(text));
    return lines.push(level) > 0;
  });
  log.info('call', {});
  metrics.call('browse-fleet', 'OK', 1);
  log.warn('call failed', {});
  log.error('call failed', {});
  vi.restoreAllMocks();
  table.client.destroy();
  expect(lines).toEqual(printed);
});
