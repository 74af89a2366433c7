/** Runs the first day of docs/operate.md word for word, on the service that `npm start` runs. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start, stopsOn } from '../support/start.ts';
import { steady, stepsOf, walk } from '../support/walk.ts';

const document = readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8');
const steps = stepsOf(document.split('\n## Alarms')[0] ?? '');

describe("the operator's walk", () => {
  let service: Awaited<ReturnType<typeof start>>;
  let printed: string[];
  beforeAll(async () => {
    service = await start(['--port', '0'], { DYNAMODB_ENDPOINT: undefined });
    const url = /Serving at (\S+)/.exec(service.output())?.[1] ?? '';
    const walked = await walk(steps, {
      // On a busy machine a call may be answered 503.
      adapt: (script) =>
        `set -e\ncurl() { command curl --fail --retry 9 "$@"; }\n${script.replace('http://127.0.0.1:3000', url)}`,
      env: { SERVICE_URL: url, DYNAMODB_ENDPOINT: undefined },
    });
    printed = walked.printed;
    if (walked.exitCode !== 0)
      throw new Error(`the walk ended with exit code ${walked.exitCode}:\n${printed.join('\n')}`);
  }, 300_000);
  afterAll(() => service.child.kill('SIGKILL'));

  it('has a step for each part of the first day', () => {
    expect(steps.length).toBeGreaterThan(15);
  });

  it.each(steps.map(({ commands, output }, index) => ({ command: commands.split('\n')[0], output, index })))(
    '$command',
    ({ output, index }) => {
      expect(steady(printed[index] ?? '')).toBe(steady(output));
    },
  );

  it('ends on SIGTERM', () => stopsOn('SIGTERM', service));
});
