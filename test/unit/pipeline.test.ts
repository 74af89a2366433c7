/** The example pipeline: which code gets credentials, what is deployed, and what the reviewers of production see. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stepOf, textOf } from '../support/documents.ts';

const written = textOf('examples/pipeline/deploy.yml');
const repeated = new Map(
  [...written.matchAll(/- &(\w+)\n {8}((?:.*\n {8})*.*\n)/g)].map(([, name, step]) => [name, step]),
);
/** As GitHub reads it: with each step in the place of its aliases. */
const text = written
  .replaceAll(/- &\w+\n {8}/g, '- ')
  .replaceAll(/\*(\w+)\n/g, (_alias, name) => repeated.get(name) ?? expect.fail(name));
const [head = '', body = ''] = text.split('\njobs:\n');
const parts = body.split(/^ {2}(?=[\w-]+:(?: #.*)?\n {4})/m).slice(1);
const jobs = new Map(parts.map((part) => [part.slice(0, part.indexOf(':')), part]));
const job = (name: string) => jobs.get(name) ?? expect.fail(name);
/** Those that can get credentials of AWS. */
const trusted = [...jobs].filter(([, part]) => part.includes('id-token: write'));
/** The lines that a job's steps run. */
const runsOf = (part: string) =>
  [...part.matchAll(/ {6}(?:- | {2})run: (?:\|\n((?: {10}.*\n)+)|(.+)\n)/g)].map(
    ([, block, line = '']) => block ?? line,
  );

it('lets no package but the CDK run where credentials of AWS are to be had, and stores none', () => {
  expect(text).not.toMatch(/aws-(access|secret)|AWS_(ACCESS|SECRET)/);
  expect(head).toMatch(/^permissions:\n {2}contents: read\nconcurrency/m);
  expect(trusted.map(([name]) => name)).toEqual([
    'staging',
    'production-diff',
    'production',
    'production-standby',
    'production-back',
  ]);
  for (const [name, part] of trusted) {
    const [before = '', after = ''] = part.split('configure-aws-credentials');
    const packages = /\b(?:npm|npx|node|yarn|pnpm)\b.*/g;
    expect(runsOf(before).join('').match(packages)).toEqual(
      name === 'production-diff' ? null : ['npm ci --ignore-scripts'],
    );
    const outputs = /-(back|standby)$/.test(name) ? '' : ' --outputs-file outputs.json';
    const deploy = `npx cdk deploy --app cdk.out/${name.replace('-back', '')} --require-approval never${outputs}`;
    expect(runsOf(after).join('\n').match(packages)).toEqual(name === 'production-diff' ? null : [deploy]);
    expect(part).not.toContain('secrets.');
  }
  for (const [name, part] of jobs)
    if (!trusted.some(([each]) => each === name)) expect(part).not.toContain('configure-aws');
});

it('deploys what it tested, production after its diff was shown and approved', () => {
  expect(job('build')).not.toContain('environment:');
  expect(runsOf(job('build'))).toContain('npm test');
  const needs = [...jobs].map(([name, part]) => [name, /^ {4}needs: (.*)$/m.exec(part)?.[1]]);
  expect(Object.fromEntries(needs)).toEqual({
    build: undefined,
    staging: 'build',
    'staging-check': 'staging',
    'production-diff': '[build, staging-check]',
    production: '[build, last-good, production-diff]',
    'last-good': 'build',
    'production-check': 'production',
    'production-standby': '[build, production-check]',
    'production-back': '[last-good, production, production-check]',
  });
  const ofThisBuild = trusted.filter(([name]) => name !== 'production-back');
  for (const [, part] of ofThisBuild)
    expect(part).toMatch(/artifact-ids: '\$\{\{ needs\.build\.outputs\.artifact \}\}'/);
  // Only this environment has reviewers.
  expect([...text.matchAll(/environment: production\b(?!-).*/g)]).toHaveLength(1);
});

it('goes back by itself, to the build of the last run that passed, when the check of production fails', () => {
  const back = job('production-back');
  const [, condition] = /^ {4}if: (.*)$/m.exec(back) ?? [];
  expect(condition).toBe(
    "failure() && needs.production-check.result == 'failure' && needs.last-good.outputs.run != ''",
  );
  expect(back).toMatch(/run-id: '\$\{\{ needs\.last-good\.outputs\.run \}\}'/);
  // This environment has no reviewers.
  expect(/^ {4}environment: (\S+)/m.exec(back)?.[1]).toBe('production-back');
});

it.each([
  ['the last run', '{"workflow_runs":[{"id":7},{"id":6}]}', 'run=7\n'],
  ['none, if none has passed', '{"workflow_runs":[]}', 'run=\n'],
])('finds as the build to go back to that of %s', (_what, answer, output) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'runs-'));
  const file = (name: string) => join(folder.path, name);
  writeFileSync(file('answer'), answer);
  const stub = `gh() { echo "$*" >asked; shift 2; [ "$1" = --jq ] && jq -r "$2" answer; }`;
  const { status } = spawnSync('bash', ['-e', '-c', `${stub}\n${stepOf(text, 'find')}`], {
    cwd: folder.path,
    env: { ...process.env, GITHUB_REPOSITORY: 'owner/name', GITHUB_OUTPUT: file('output') },
  });
  expect([status, readFileSync(file('output'), 'utf8')]).toEqual([0, output]);
  expect(readFileSync(file('asked'), 'utf8')).toContain(
    'repos/owner/name/actions/workflows/deploy.yml/runs?branch=main&status=success',
  );
});

it.each([
  ['what would change', { Resources: { Queue: { Type: 'AWS::SQS::Queue' } } }, '+      "Type": "AWS::SNS::Topic"\n'],
  ['that nothing would', { Resources: { Queue: { Type: 'AWS::SNS::Topic' } } }, 'The template does not change.\n'],
])('shows the reviewers %s', (_what, deployed, shown) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'diff-'));
  const file = (name: string) => join(folder.path, name);
  mkdirSync(file('cdk.out/production'), { recursive: true });
  writeFileSync(file('cdk.out/production/Service.template.json'), '{"Resources":{"Queue":{"Type":"AWS::SNS::Topic"}}}');
  writeFileSync(file('answer'), JSON.stringify(deployed));
  // Actions runs a step in this way.
  const { status, stdout } = spawnSync('bash', ['-e', '-c', `aws() { cat answer; }\n${stepOf(text, 'diff')}`], {
    ...{ cwd: folder.path, encoding: 'utf8' },
    env: { ...process.env, STACK: 'Service', GITHUB_STEP_SUMMARY: file('summary') },
  });
  const summary = readFileSync(file('summary'), 'utf8');
  expect([status, summary]).toEqual([0, expect.stringMatching(/^```diff\n.*\n```\n$/s)]);
  expect([summary, stdout]).toEqual([expect.stringContaining(shown), summary]);
});

it('may assume only those roles of the bootstrap that a deployment needs, of this account, region and qualifier', () => {
  const roles = [...textOf('examples/pipeline/deploy-role.yaml').matchAll(/:role\/(\S+)'/g)].map(([, name]) => name);
  const named = (role: string) => `cdk-\${Qualifier}-${role}-role-\${AWS::AccountId}-\${AWS::Region}`;
  expect(roles).toEqual(['deploy', 'file-publishing'].map(named));
});

it('has commands that bash can parse, and names every action by its commit', () => {
  const commands = [...jobs.values()].flatMap(runsOf);
  expect(commands.length).toBeGreaterThan(12);
  for (const command of commands) expect(spawnSync('bash', ['-n', '-c', command]).status, command).toBe(0);
  for (const [use] of text.matchAll(/uses: .*/g)) expect(use).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
