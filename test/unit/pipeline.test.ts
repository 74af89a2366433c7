/** The example pipeline stores no long-lived credentials, and deploys what it tested. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { textOf } from '../support/documents.ts';

const text = textOf('examples/pipeline/deploy.yml');

it('builds and tests without credentials, and deploys to both environments what it built', () => {
  expect(text).not.toMatch(/aws-(access|secret)|AWS_(ACCESS|SECRET)/);
  const [head = '', build = '', ...deployments] = text.split(/^ {2}(?=\w+:\n {4}(?:needs|runs-on))/m);
  expect(head + build).not.toMatch(/id-token: write|configure-aws-credentials/);
  expect(build).toContain('npm test');
  expect(deployments.length).toBe(2);
  for (const deployment of deployments) {
    expect(deployment).toContain('id-token: write');
    expect(deployment).not.toMatch(/npm (ci\n|test|run synth)/);
    for (const [command] of deployment.matchAll(/npx cdk .*/g)) expect(command).toContain('--app cdk.out');
  }
});

it('has commands that bash can parse, and names every action by its commit', () => {
  // What a step runs is a line, or an indented block.
  const commands = [...text.matchAll(/run: (?:\|\n((?: {10}.*\n)+)|(.+)\n)/g)];
  expect(commands.length).toBeGreaterThan(12);
  for (const [, block, line = ''] of commands)
    expect(spawnSync('bash', ['-n', '-c', block ?? line]).status, block ?? line).toBe(0);
  for (const [use] of text.matchAll(/uses: .*/g)) expect(use).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
