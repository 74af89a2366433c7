import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['src/certificate.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Slow checks mostly wait for the rate limit, so many can run at once.
    maxConcurrency: 8,
  },
});
