import { CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib';
import { type DeploymentSettings, keptSettings } from './stack-settings.ts';

/**
 * Makes CloudFormation refuse a deployment that changes one of {@link keptSettings} by mistake, such as by an omitted `-c` or from an
 * older commit. Each is a parameter. CDK repeats the parameters of the deployment before, and a rule requires the value of this one.
 */
export function addKeptSettings(stack: Stack, settings: DeploymentSettings): void {
  for (const [name, { setting, value }] of Object.entries(keptSettings(settings))) {
    const parameter = new CfnParameter(stack, name, {
      default: value,
      description: `${setting} of the last deployment: docs/deploy.md`,
    });
    new CfnRule(stack, `Keep${name}`, {
      assertions: [
        {
          assert: Fn.conditionEquals(parameter.valueAsString, value),
          assertDescription: `This deployment changes ${setting}. If that is meant, add --parameters ${name}=${value}; if not, put its last value into cdk.json: docs/deploy.md, "Update and roll back".`,
        },
      ],
    });
  }
}
