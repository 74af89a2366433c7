import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { createDeps } from '../../../lib/deps.ts';
import { createLog, inRepository } from '../../../lib/shared/log.ts';
import { serve } from '../../support/serve.ts';

afterEach(() => vi.restoreAllMocks());

/** The lines that are written to standard output while `write` runs. */
function printedBy(write: () => void): string[] {
  const texts: string[] = [];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => texts.push(String(text)) > 0);
  write();
  stdout.mockRestore();
  return texts;
}

it.each([
  ['true', [/^call failed: throttled \(ThrottlingException\), request_id r\n$/, /^\{"level":"ERROR"/]],
  ['false', [/^\{"level":"INFO"/, /^\{"_aws"/, /^\{"level":"WARN"/, /^\{"level":"WARN"/, /^\{"level":"ERROR"/]],
])('QUIET=%s prints %j', async (QUIET, expected) => {
  // Nothing listens there. The failed reads of the warm-up are ignored.
  const env = { TABLE_NAME: 'table', DYNAMODB_ENDPOINT: 'http://127.0.0.1:1', QUIET };
  const { log, metrics, table } = await createDeps({ connections: 1, env });
  table.client.destroy();
  const printed = printedBy(() => {
    log.info('call', {});
    metrics.call('browse-fleet', 'OK', 1);
    log.warn('call failed', { cause: 'throttled', error_name: 'ThrottlingException', request_id: 'r' });
    log.warn('live status not read', {});
    log.error('call failed', {});
  });
  expect(printed).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

it('before the first call each connection reads DynamoDB once, and a read without a reply fails nothing', async () => {
  const read: string[] = [];
  const DYNAMODB_ENDPOINT = await serve(async (request) => read.push(JSON.parse(await text(request)).Key.pk.S));
  const { table } = await createDeps({ connections: 2, env: { TABLE_NAME: 'table', DYNAMODB_ENDPOINT } });
  await vi.waitFor(() => expect(read).toEqual(['APP_KEY#', 'APP_KEY#']));
  table.client.destroy();
});

it('a log line is one line of JSON, with exact account ids beyond 2^53', () => {
  const lines = printedBy(() => createLog().error('RUM rows malformed', { account_id: 2n ** 63n - 1n }));
  const form =
    /^\{"level":"ERROR","message":"RUM rows malformed","timestamp":"[^"]+","service":"[^"]+","account_id":9223372036854775807\}\n$/;
  expect(lines).toEqual([expect.stringMatching(form)]);
});

it.each([
  ['../../../home/me/service/lib/table/client.ts', 'lib/table/client.ts'],
  ['../../mylib/functions/merge-alerts.ts', 'functions/merge-alerts.ts'],
  ['../lib/node_modules/@aws-sdk/lib-dynamodb/lib/x.js', 'node_modules/@aws-sdk/lib-dynamodb/lib/x.js'],
])('the frame of %s names %s', (source, name) => {
  expect(inRepository(source)).toBe(name);
});
