/** The example pipeline: its commands exist, and it stores no long-lived credentials. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const text = readFileSync(new URL('../../examples/pipeline/deploy.yml', import.meta.url), 'utf8');
/** What each step runs: a line, or an indented block. */
const commands = [...text.matchAll(/run: (?:\|\n((?: {10}.*\n)+)|(.+)\n)/g)].map(
  ([, block, line]) => block ?? line ?? '',
);

it('runs existing scripts, in commands that bash can parse', () => {
  expect(commands.length).toBeGreaterThan(12);
  for (const command of commands) {
    expect([command, spawnSync('bash', ['-n', '-c', command]).status]).toEqual([command, 0]);
    for (const [, script = ''] of command.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
      expect(Object.keys(packageJson.scripts)).toContain(script);
  }
});

it('has only short-lived credentials', () => {
  expect(text).toContain('id-token: write');
  expect(text).not.toMatch(/aws-(access|secret)|AWS_(ACCESS|SECRET)/);
});
