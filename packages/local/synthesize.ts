/** The stack's template, for the local gateway and the tests. Loads the CDK, which takes half a second. */
import { App } from 'aws-cdk-lib';
import cdk from '../../cdk.json' with { type: 'json' };
import { ServiceStack } from '../../infra/stack.ts';
import type { Template } from './template.ts';

/**
 * The stack's template as `cdk synth` makes it, without the bundles of its functions and without CloudFormation's rules,
 * which take longer to load than all the rest.
 */
export function synthesize(context: Record<string, unknown> = {}): Template {
  const app = new App({
    context: { ...cdk.context, 'aws:cdk:bundling-stacks': [], ...context },
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  const stack = new ServiceStack(app, 'Service');
  return app.synth().getStackArtifact(stack.artifactId).template as Template;
}
