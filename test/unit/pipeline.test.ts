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

it('builds and tests without credentials, and deploys to both environments what it built', () => {
  expect(text).not.toMatch(/aws-(access|secret)|AWS_(ACCESS|SECRET)/);
  const [head = '', build = '', ...deployments] = text.split(/^ {2}(?=\w+:\n {4}(?:needs|runs-on))/m);
  expect(deployments.length).toBe(2);
  expect(head + build).not.toMatch(/id-token: write|configure-aws-credentials/);
  expect(build).toContain('npm test');
  for (const deployment of deployments) {
    expect(deployment).toContain('id-token: write');
    expect(deployment).not.toMatch(/npm (ci\n|test|run synth)/);
    for (const [command] of deployment.matchAll(/npx cdk .*/g)) expect(command).toContain('--app cdk.out');
  }
});

it('names every action by its commit', () => {
  for (const [use] of text.matchAll(/uses: .*/g)) expect(use).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
