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

test.each([
  ['true', ['compile_cache_rejected']],
  ['false', []],
])('COMPILE_CACHE_REJECTED=%s counts %j', async (COMPILE_CACHE_REJECTED, counted) => {
  const events: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => events.push(JSON.parse(String(text)).event) > 0);
  const { table } = await createDeps({ connections: 0, env: { TABLE_NAME: 'table', COMPILE_CACHE_REJECTED } });
  vi.restoreAllMocks();
  table.client.destroy();
  expect(events).toEqual(counted);
});
