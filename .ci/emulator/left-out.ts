/** Removes from the stack what the emulator does not support. A comment gives the reason for each. */
import { CfnResource, type IAspect, type Stack } from 'aws-cdk-lib';
import { CfnMethod } from 'aws-cdk-lib/aws-apigateway';
import { CfnAlarm, CfnCompositeAlarm, CfnDashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnEventBusPolicy } from 'aws-cdk-lib/aws-events';
import type { IConstruct } from 'constructs';

export const leaveOut: IAspect = {
  visit(node) {
    // The emulator refuses alarms on metric math: `Properties.Metrics (metric math) is not supported`.
    const isOnMetricMath = node instanceof CfnAlarm && node.metrics !== undefined;
    if (isOnMetricMath || isUnknown(node)) node.node.scope?.node.tryRemoveChild(node.node.id);
    // The dashboard shows the states of alarms that are left out.
    if (node instanceof CfnDashboard) node.dashboardBody = '{"widgets":[]}';
    // It takes a gateway key only from the header x-api-key, not from the authorizer's answer, so every call would get 403.
    if (node instanceof CfnMethod) node.apiKeyRequired = false;
  },
};

/** The emulator does not know composite alarms, which also need alarms that are removed, and policies of event buses. */
const isUnknown = (node: IConstruct) => node instanceof CfnCompositeAlarm || node instanceof CfnEventBusPolicy;

/** Makes a deployment fail once everything else is deployed: adds a resource that the emulator refuses. */
export function breakDeployment(stack: Stack): void {
  const broken = new CfnResource(stack, 'Broken', {
    type: 'AWS::CloudWatch::Alarm',
    properties: { Metrics: [], EvaluationPeriods: 1, ComparisonOperator: 'GreaterThanThreshold' },
  });
  for (const resource of stack.node.findAll())
    if (
      resource instanceof CfnResource &&
      resource !== broken &&
      !(resource instanceof CfnAlarm) &&
      !isUnknown(resource)
    )
      broken.addDependency(resource);
}
