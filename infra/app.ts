import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { acknowledge } from './acknowledged.ts';
import { DeploymentSettingsError } from './settings.ts';
import { ServiceStack } from './stack.ts';

const app = new App();
try {
  const stack = new ServiceStack(app, 'IncidentMonitoringRum', {
    description: 'Incident, monitoring and RUM service',
    ...(process.env.CDK_DEFAULT_ACCOUNT &&
      process.env.CDK_DEFAULT_REGION && {
        env: { account: process.env.CDK_DEFAULT_ACCOUNT, region: process.env.CDK_DEFAULT_REGION },
      }),
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  acknowledge(stack);
} catch (error) {
  if (!(error instanceof DeploymentSettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
