import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

// In a process of its own, since it replaces time and randomness.
it('every schedule of the quick form ends in a state that the model allows', async () => {
  const prove = fileURLToPath(new URL('../../simulation/prove.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [prove, '--form', 'quick']);
  expect(stdout).toMatch(/all hold\.\n$/);
}, 300_000);
