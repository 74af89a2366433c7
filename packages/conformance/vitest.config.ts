import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;

export default defineConfig({
  root,
  test: {
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Slow rules sleep most of the time.
    maxConcurrency: 8,
    projects: [
      { root, test: { name: 'contract', include: ['src/contract.test.ts'] } },
      { root, test: { name: 'breaks', include: ['test/*.test.ts'] } },
    ],
  },
});
