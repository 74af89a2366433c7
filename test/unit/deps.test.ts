import { createServer } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { createDeps } from '../../lib/shared/deps.ts';
import { listen } from '../support/listen.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  ['true', ['call failed: throttled (ThrottlingException), request_id r', 'ERROR']],
  ['false', ['INFO', 'METRIC', 'WARN', 'ERROR']],
])('QUIET=%s prints %j', async (QUIET, printed) => {
  const lines: string[] = [];
  // Nothing listens there. The failed reads of the warm-up are ignored.
  const env = { TABLE_NAME: 'table', DYNAMODB_ENDPOINT: 'http://127.0.0.1:1', QUIET };
  const { log, metrics, table } = await createDeps({ connections: 1, env });
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    const line = String(text).trim();
    return lines.push(line.startsWith('{') ? (JSON.parse(line).level ?? 'METRIC') : line) > 0;
  });
  log.info('call', {});
  metrics.call('browse-fleet', 'OK', 1);
  log.warn('call failed', { cause: 'throttled', error_name: 'ThrottlingException', request_id: 'r' });
  if (QUIET === 'true') log.warn('live status not read', {});
  log.error('call failed', {});
  vi.restoreAllMocks();
  table.client.destroy();
  expect(lines).toEqual(printed);
});

test('before the first call each connection reads DynamoDB once, and a read without a reply fails nothing', async () => {
  const read: string[] = [];
  const server = createServer((request) => {
    request.on('data', (body) => read.push(JSON.parse(String(body)).Key.pk.S));
  });
  const env = { TABLE_NAME: 'table', DYNAMODB_ENDPOINT: `http://127.0.0.1:${await listen(server)}` };
  const { table } = await createDeps({ connections: 2, env });
  await vi.waitFor(() => expect(read).toEqual(['APP_KEY#', 'APP_KEY#']));
  table.client.destroy();
  server.closeAllConnections();
  server.close();
});
