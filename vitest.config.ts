import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// What the tests start are the same modules again and again.
process.env.NODE_COMPILE_CACHE ??= 'node_modules/.cache/node';

const setupFiles = ['test/support/same-choices.ts'];

export default defineConfig({
  test: {
    // No test changes a module's state, so that those which a worker has loaded serve file after file.
    isolate: false,
    expect: { poll: { timeout: 15_000 } },
    // Some tests wait for time-outs.
    maxWorkers: availableParallelism() + 1,
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], setupFiles, testTimeout: 60_000 } },
      {
        test: {
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          setupFiles,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/{integration,faults,simulation}/**/*.test.ts'],
          setupFiles,
          globalSetup: ['test/support/template.ts', 'test/support/dynamodb-local.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // Needs the history of the repository: no part of `npm test`.
          name: 'releases',
          include: ['test/releases/**/*.test.ts'],
          setupFiles,
          globalSetup: ['test/support/template.ts', 'test/support/dynamodb-local.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
