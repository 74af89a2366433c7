import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

it('prints the data set, and ends without an error if its reader stops early', async () => {
  const child = spawn(process.execPath, [MAIN, '--data', '7', '--run', 'early']);
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  await once(child, 'close');
  expect([child.exitCode, errors]).toEqual([0, '']);
});
