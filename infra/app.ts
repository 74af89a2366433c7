import { chmodSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { addChecks } from './checks.ts';
import { ServiceStack } from './stack.ts';
import { DeploymentSettingsError, readContextFiles, readDeploymentSettings } from './stack-settings.ts';

export const app = new App();
// CDK makes the folders of the bundles writable for everybody. Other users must not reach them, since the bundles are deployed.
chmodSync(app.outdir, 0o700);
try {
  readContextFiles(new URL('../', import.meta.url));
  const { stackName, region = process.env.CDK_DEFAULT_REGION } = readDeploymentSettings(app.node.getAllContext());
  const account = process.env.CDK_DEFAULT_ACCOUNT;
  const stack = new ServiceStack(app, stackName, {
    description: 'Incident, monitoring and RUM service',
    env: { ...(account && { account }), ...(region && { region }) },
  });
  addChecks(app, stack);
} catch (error) {
  if (!(error instanceof DeploymentSettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
