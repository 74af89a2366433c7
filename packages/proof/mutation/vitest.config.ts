import { defineConfig } from 'vitest/config';

const FILES = [
  'current',
  'errors',
  'expression',
  'failures',
  'feed-rows',
  'fleet-cursor',
  'fleet-status',
  'fleet-rows',
  'idempotency-key',
  'item-size',
  'json',
  'messages',
  'printable',
  'read-plan',
  'field-errors',
  'settings',
  'table-keys',
  'validation',
];

/** The unit tests that notice changes of the pure modules, fast and with the same values in every run. */
export default defineConfig({
  test: {
    include: FILES.map((name) => `{test,packages/*/test}/unit/${name}.test.ts`),
    setupFiles: ['packages/proof/mutation/few-values.ts'],
  },
});
