import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

// It replaces time and randomness: so it has a process of its own.
it('every schedule of the scenarios that take a moment leads where the model does', async () => {
  const prove = fileURLToPath(new URL('../../simulation/prove.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [prove, '--form', 'quick']);
  expect(stdout).toMatch(/all hold\.\n$/);
}, 300_000);
