/** Removes from the stack what the emulator does not support. A comment gives the reason for each. */
import { CfnResource, type IAspect, type Stack } from 'aws-cdk-lib';
import type { CfnMethod } from 'aws-cdk-lib/aws-apigateway';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';

export const leaveOut: IAspect = {
  visit(node) {
    if (!CfnResource.isCfnResource(node)) return;
    // The type tells resources apart, not `instanceof`: the previous release loads its own copy of the CDK.
    const type = node.cfnResourceType;
    // The emulator refuses alarms on metric math: `Properties.Metrics (metric math) is not supported`.
    const isOnMetricMath = type === 'AWS::CloudWatch::Alarm' && (node as CfnAlarm).metrics !== undefined;
    // It does not know these types. The composite alarms also need alarms that are removed.
    const isUnknown = ['AWS::CloudWatch::CompositeAlarm', 'AWS::CloudWatch::InsightRule'].includes(type);
    if (isOnMetricMath || isUnknown) node.node.scope?.node.tryRemoveChild(node.node.id);
    // It takes a gateway key only from the header x-api-key, not from the authorizer's answer, so every call would get 403.
    if (type === 'AWS::ApiGateway::Method') (node as CfnMethod).apiKeyRequired = false;
  },
};

/** Makes a deployment fail once everything else is deployed: adds a resource that the emulator refuses. */
export function breakDeployment(stack: Stack): void {
  const broken = new CfnResource(stack, 'Broken', {
    type: 'AWS::CloudWatch::Alarm',
    properties: { Metrics: [], EvaluationPeriods: 1, ComparisonOperator: 'GreaterThanThreshold' },
  });
  for (const resource of stack.node.findAll())
    if (resource instanceof CfnResource && resource !== broken && !(resource instanceof CfnAlarm))
      broken.addDependency(resource);
}
