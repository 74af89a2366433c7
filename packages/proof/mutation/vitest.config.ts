import { globSync } from 'node:fs';
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

const patternOf = (name: string) => `{test,packages/*/test}/unit/${name}.test.ts`;
for (const name of FILES) if (globSync(patternOf(name)).length === 0) throw new Error(`There is no unit test ${name}.`);

/** The unit tests that notice changes of the pure modules, fast and with the same values in every run. */
export default defineConfig({
  test: {
    include: FILES.map(patternOf),
    setupFiles: ['packages/proof/mutation/fixed-seed.ts'],
  },
});
