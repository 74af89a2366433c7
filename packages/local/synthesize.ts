/** Synthesizes the stack's template for the local gateway and the tests. Loading the CDK takes half a second. */
import { App, type StackProps } from 'aws-cdk-lib';
import cdk from '../../cdk.json' with { type: 'json' };
import { ServiceStack } from '../../infra/stack.ts';
import type { Template } from './template.ts';

/**
 * The template that `cdk synth` makes, without the function bundles and without CloudFormation's validation rules, which take longer to load
 * than everything else.
 * @param props with the account and region, for settings that need them
 */
export function synthesize(context: Record<string, unknown> = {}, props?: StackProps): Template {
  const app = new App({
    // Not the settings of the operator's stages.
    context: { ...cdk.context, stages: {}, 'aws:cdk:bundling-stacks': [], ...context },
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  const stack = new ServiceStack(app, String(context.stackName ?? 'Service'), props);
  return app.synth().getStackArtifact(stack.artifactId).template as Template;
}
