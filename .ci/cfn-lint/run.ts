/** Runs cfn-lint, with cfn-lint.yaml, on a template for each group of settings that changes what is deployed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonTool, run } from '../support/processes.ts';

const STREAM = 'arn:aws:dynamodb:eu-central-1:123456789012:table/kept/stream/2026-01-01T00:00:00.000';
const DEPLOYMENTS: Readonly<Record<string, readonly string[]>> = {
  defaults: [],
  'alarms, reserved concurrency': [
    'alarmEmail=operator@example.com',
    'alarmTopicArn=arn:aws:sns:eu-central-1:123456789012:on-call',
    'noTrafficMinutes=30',
    'smokeKeySecret=smoke-key',
    'reservedConcurrency=200',
  ],
  'an ephemeral stage': ['stackName=Preview', 'ephemeral=true'],
  'canary roll-out': ['rollout=canary', 'alarmEmail=operator@example.com'],
  'a forced roll-out': ['rollout=canary-forced'],
  'backups in another account': ['backupVaultArn=arn:aws:backup:eu-central-1:210987654321:backup-vault:copies'],
  'a table that is kept': [`adoptTable=${STREAM}`],
};

const folder = mkdtempSync(join(tmpdir(), 'cfn-lint-'));
try {
  for (const [name, context] of Object.entries(DEPLOYMENTS)) {
    const output = join(folder, name.replaceAll(' ', '-'));
    await run('cdk', ['synth', '--quiet', '--output', output, ...context.flatMap((one) => ['-c', one])]);
    const stack = context.find((one) => one.startsWith('stackName='))?.split('=')[1] ?? 'IncidentMonitoringRum';
    const template = join(output, `${stack}.template.json`);
    const config = join(import.meta.dirname, 'cfn-lint.yaml');
    await run(pythonTool('cfn-lint'), ['--config-file', config, '--non-zero-exit-code', 'informational', template]);
    process.stdout.write(`ok ${name}\n`);
  }
} catch (error) {
  process.stdout.write(`NOT OK ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
