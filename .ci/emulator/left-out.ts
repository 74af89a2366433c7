/** What the emulator cannot do, each with its reason. It is left out of what is deployed there, and nothing else is. */
import { CfnResource, type IAspect, type Stack } from 'aws-cdk-lib';
import type { CfnMethod } from 'aws-cdk-lib/aws-apigateway';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';

export const leaveOut: IAspect = {
  visit(node) {
    if (!CfnResource.isCfnResource(node)) return;
    // Not by their classes: the previous release has packages of its own.
    const type = node.cfnResourceType;
    // It refuses alarms on metric math: `Properties.Metrics (metric math) is not supported`.
    const onMetricMath = type === 'AWS::CloudWatch::Alarm' && (node as CfnAlarm).metrics !== undefined;
    // It does not know AWS::CloudWatch::CompositeAlarm; these stand on alarms that are left out.
    // Nor AWS::CloudWatch::InsightRule.
    const unknown = ['AWS::CloudWatch::CompositeAlarm', 'AWS::CloudWatch::InsightRule'].includes(type);
    if (onMetricMath || unknown) node.node.scope?.node.tryRemoveChild(node.node.id);
    // It reads a gateway key from the header x-api-key alone, not from the authorizer's answer: every call would be 403.
    if (type === 'AWS::ApiGateway::Method') (node as CfnMethod).apiKeyRequired = false;
  },
};

/**
 * It kills the processes of a function whose code or configuration changes, with the calls that they are answering, where
 * Lambda lets these finish: they get this answer.
 */
export const CUT = '502';

/** Makes a deployment fail once all else is deployed, with a resource that the emulator refuses. */
export function breakDeployment(stack: Stack): void {
  const broken = new CfnResource(stack, 'Broken', {
    type: 'AWS::CloudWatch::Alarm',
    properties: { Metrics: [], EvaluationPeriods: 1, ComparisonOperator: 'GreaterThanThreshold' },
  });
  for (const resource of stack.node.findAll())
    if (resource instanceof CfnResource && resource !== broken && !(resource instanceof CfnAlarm))
      broken.addDependency(resource);
}
