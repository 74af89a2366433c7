/** Runs cfn-lint, with cfn-lint.yaml, on a template for each group of settings that changes what is deployed. */
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import cdk from '../../cdk.json' with { type: 'json' };
import { pythonTool, run } from '../support/processes.ts';

const DEPLOYMENTS: readonly Readonly<Record<string, string>>[] = [
  {},
  {
    pageTo: 'operator@example.com',
    ticketTo: 'arn:aws:sns:eu-central-1:123456789012:on-call',
    reservedConcurrency: '200',
    backupVaultArn: 'arn:aws:backup:eu-central-1:210987654321:backup-vault:copies',
  },
  { stackName: 'Preview', ephemeral: 'true' },
  {
    domainName: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/1',
    disableExecuteApiEndpoint: 'true',
    webAclArn: 'arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/service/1',
    tags: 'team=on-call',
    adoptTable: 'arn:aws:dynamodb:eu-central-1:123456789012:table/kept/stream/2026-01-01T00:00:00.000',
    standby: 'true',
    regionDigit: '2',
  },
  { replicaRegions: 'eu-west-1', regionDigit: '1' },
];

/** Makes the app write the templates of `cdk synth`, but no bundles of functions, which are the same for all settings. */
const SYNTH = {
  'aws:cdk:bundling-stacks': [],
  'aws:cdk:version-reporting': true,
  'aws:cdk:enable-path-metadata': true,
};

/** What `cdk deploy` tells the app, by its credentials. */
const PLACE = { CDK_DEFAULT_ACCOUNT: '123456789012', CDK_DEFAULT_REGION: 'eu-central-1' };

using folder = mkdtempDisposableSync(join(tmpdir(), 'cfn-lint-'));
const templates: string[] = [];
for (const [index, settings] of DEPLOYMENTS.entries()) {
  const CDK_OUTDIR = join(folder.path, String(index));
  const CDK_CONTEXT_JSON = JSON.stringify({ ...cdk.context, stages: {}, ...SYNTH, ...settings });
  await run('node', ['infra/app.ts'], { CDK_OUTDIR, CDK_CONTEXT_JSON, ...PLACE });
  templates.push(join(CDK_OUTDIR, `${settings.stackName ?? 'IncidentMonitoringRum'}.template.json`));
}
const config = join(import.meta.dirname, 'cfn-lint.yaml');
const options = ['--config-file', config, '--non-zero-exit-code', 'informational'];
await run(pythonTool('cfn-lint'), [...options, '--', ...templates]);
process.stdout.write(`ok, with ${DEPLOYMENTS.map((settings) => JSON.stringify(settings)).join(', ')}\n`);
