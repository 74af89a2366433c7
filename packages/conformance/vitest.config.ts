import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;

export default defineConfig({
  root,
  test: {
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Slow checks mostly wait for the rate limit, so many can run at once.
    maxConcurrency: 8,
    projects: [
      { root, test: { name: 'contract', include: ['src/contract.test.ts'] } },
      { root, test: { name: 'breaks', include: ['test/*.test.ts'] } },
    ],
  },
});
