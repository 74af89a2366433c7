/** Runs cfn-lint, with cfn-lint.yaml, on a template for each group of settings that changes what is deployed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import cdk from '../../cdk.json' with { type: 'json' };
import { pythonTool, run } from '../support/processes.ts';

const STREAM = 'arn:aws:dynamodb:eu-central-1:123456789012:table/kept/stream/2026-01-01T00:00:00.000';
const DEPLOYMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  defaults: {},
  'alarms, reserved concurrency': {
    alarmEmail: 'operator@example.com',
    alarmTopicArn: 'arn:aws:sns:eu-central-1:123456789012:on-call',
    noTrafficMinutes: '30',
    smokeKeySecret: 'smoke-key',
    reservedConcurrency: '200',
  },
  'an ephemeral stage': { stackName: 'Preview', ephemeral: 'true' },
  'canary roll-out': { rollout: 'canary', alarmEmail: 'operator@example.com' },
  'a forced roll-out': { rollout: 'canary-forced' },
  'backups in another account': { backupVaultArn: 'arn:aws:backup:eu-central-1:210987654321:backup-vault:copies' },
  'a table that is kept': { adoptTable: STREAM },
};

/** Makes the app write the templates of `cdk synth`, but no bundles of functions, which are the same for all settings. */
const SYNTH = {
  'aws:cdk:bundling-stacks': [],
  'aws:cdk:version-reporting': true,
  'aws:cdk:enable-path-metadata': true,
};

const folder = mkdtempSync(join(tmpdir(), 'cfn-lint-'));
try {
  const templates: string[] = [];
  for (const [name, settings] of Object.entries(DEPLOYMENTS)) {
    const output = join(folder, name.replaceAll(' ', '-'));
    const context = { ...cdk.context, ...SYNTH, ...settings };
    await run('node', ['infra/app.ts'], { CDK_OUTDIR: output, CDK_CONTEXT_JSON: JSON.stringify(context) });
    templates.push(join(output, `${settings.stackName ?? 'IncidentMonitoringRum'}.template.json`));
  }
  const config = join(import.meta.dirname, 'cfn-lint.yaml');
  const options = ['--config-file', config, '--non-zero-exit-code', 'informational'];
  await run(pythonTool('cfn-lint'), [...options, '--', ...templates]);
  process.stdout.write(`ok ${Object.keys(DEPLOYMENTS).join('; ')}\n`);
} catch (error) {
  process.stdout.write(`NOT OK ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
