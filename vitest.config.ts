import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Tests wait for DynamoDB Local more than they compute.
    maxWorkers: Math.max(2, availableParallelism()),
    // Files that share a DynamoDB Local make each other wait until calls time out.
    fileParallelism: process.env.DYNAMODB_ENDPOINT === undefined,
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { name: 'infra', include: ['test/infra/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts', 'test/faults/**/*.test.ts'],
          globalSetup: ['test/support/template.ts'],
          setupFiles: ['test/support/dynamodb-local.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
