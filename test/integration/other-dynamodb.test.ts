/** `.ci/other-dynamodb` runs a program that it downloads: only the one that was read when its hash was entered. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

function script(file: string, lines: string) {
  writeFileSync(file, `#!/bin/sh\n${lines}\n`);
  chmodSync(file, 0o755);
}

it('does not run what the registry serves in place of the program', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'registry-'));
  const [ran, bin] = [join(folder.path, 'ran'), join(folder.path, 'bin')];
  for (const name of ['bin', 'package']) mkdirSync(join(folder.path, name));
  script(join(folder.path, 'package/dynoxide'), `: >'${ran}'`);
  // `npm pack --silent --pack-destination FOLDER PACKAGE`
  script(
    join(bin, 'npm'),
    `[ "$1" != pack ] || tar -czf "$4/dynoxide-linux-x64-1.2.1.tgz" -C '${folder.path}' package`,
  );
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const { status, stdout } = spawnSync('bash', ['.ci/other-dynamodb'], { env, encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, expect.stringMatching(/\.tgz: FAILED\n$/)]);
  expect(existsSync(ran)).toBe(false);
});
