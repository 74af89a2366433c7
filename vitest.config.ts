import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Whatever the tests leave in the temporary folder goes with the run.
const temporary = mkdtempSync(join(tmpdir(), 'tests-'));
process.env.TMPDIR = temporary;
process.once('exit', () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }));

// What the tests start are the same modules again and again.
process.env.NODE_COMPILE_CACHE ??= 'node_modules/.cache/node';

// With faults DynamoDB Local answers some hundred thousand calls: there optimizing takes less time than it saves.
if (process.env.FAULTS) process.env.JAVA_TOOL_OPTIONS ??= '-XX:+UseSerialGC';

/** What tests on a table share. */
const globalSetup = ['test/support/template.ts', 'test/support/dynamodb-local.ts'];

export default defineConfig({
  test: {
    // No test changes a module's state, so that those which a worker has loaded serve file after file.
    isolate: false,
    setupFiles: ['test/support/same-choices.ts'],
    // Long enough for a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    // Some tests wait for time-outs.
    maxWorkers: availableParallelism() + 2,
    // Projects run in the order of their names, so that the one with the longest waits begins.
    projects: [
      { test: { name: 'unit', include: ['{test,packages/*/test}/unit/**/*.test.ts'] } },
      { test: { name: 'stack', include: ['test/infra/**/*.test.ts'], globalSetup: 'test/infra/templates.ts' } },
      // A test of merges replaces a module of Node, which must not be loaded before.
      { test: { name: 'faults', include: ['test/faults/**/*.test.ts'], isolate: true, globalSetup } },
      {
        test: {
          name: 'integration',
          include: ['test/{integration,schedules}/**/*.test.ts', 'packages/*/test/integration/**/*.test.ts'],
          globalSetup,
        },
      },
    ],
  },
});
