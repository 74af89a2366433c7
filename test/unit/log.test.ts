import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../lib/shared/log.ts';
import { inRepository } from '../../lib/shared/source-map.ts';

afterEach(() => vi.restoreAllMocks());

/** What is written to standard output while `act` runs. */
function printed(act: () => void): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  act();
  return lines;
}

describe('a log line', () => {
  it('is one line of JSON, with exact account ids beyond 2^53', () => {
    const [line = '', ...more] = printed(() => createLog().error('RUM rows malformed', { account_id: 2n ** 63n - 1n }));
    expect(more).toEqual([]);
    expect(line).toMatch(/^\{"level":"ERROR","message":"RUM rows malformed","timestamp":"[^"]+","service":"[^"]+",/);
    expect(line).toMatch(/"account_id":9223372036854775807\}\n$/);
  });

  it('has a level, and stack frames that name source files', () => {
    const log = createLog((frames) => frames.map((frame) => `${frame}.ts`));
    const lines = printed(() => {
      log.info('a', {});
      log.warn('b', { error_stack: ['x'] });
      log.error('c', { error_stack: ['y'], error_name: 'E' });
    });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'INFO', message: 'a' }),
      expect.objectContaining({ level: 'WARN', message: 'b', error_stack: ['x.ts'] }),
      expect.objectContaining({ level: 'ERROR', message: 'c', error_stack: ['y.ts'], error_name: 'E' }),
    ]);
    expect(JSON.parse(lines[0] ?? '')).not.toHaveProperty('error_stack');
  });
});

it.each([
  ['../../../home/me/service/lib/table/client.ts', 'lib/table/client.ts'],
  ['../../../srv/lib/infra/lib/table/client.ts', 'lib/table/client.ts'],
  ['../../mylib/functions/merge-alerts.ts', 'functions/merge-alerts.ts'],
  ['lib/log.ts', 'lib/log.ts'],
  ['../lib/node_modules/@aws-sdk/lib-dynamodb/lib/x.js', 'node_modules/@aws-sdk/lib-dynamodb/lib/x.js'],
])('the frame of %s names %s', (source, name) => {
  expect(inRepository(source)).toBe(name);
});
