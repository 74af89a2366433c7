import { defineConfig } from 'vitest/config';

/** The unit tests of the mutated modules. All changes of a module whose test is missing here survive. */
const TEST_NAMES = [
  ...['current', 'errors', 'expression', 'failures', 'feed-rows', 'fleet-cursor', 'fleet-rows'],
  ...['fleet-status', 'idempotency-key', 'item-size', 'json', 'messages', 'printable', 'read-plan', 'settings'],
  ...['table-keys', 'validation'],
];

/** The unit tests that notice changes of the pure modules, fast and with the same values in every run. */
export default defineConfig({
  test: {
    include: TEST_NAMES.map((name) => `{test,packages/*/test}/unit/${name}.test.ts`),
    setupFiles: ['packages/proof/mutation/fixed-seed.ts'],
  },
});
