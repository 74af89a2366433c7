import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { addChecks } from '../../infra/checks.ts';
import { ServiceStack } from '../../infra/stack.ts';

interface Report {
  pluginReports: {
    pluginName: string;
    violations: { ruleName: string; violatingConstructs: { constructPath: string }[] }[];
  }[];
}

it("cdk-nag's AwsSolutions rules find nothing but the wildcard permission that this test adds to each function", () => {
  const outdir = mkdtempSync(join(tmpdir(), 'checks-'));
  const context = { ...cdk.context, stages: {}, 'aws:cdk:bundling-stacks': [], pageTo: 'ops@example.com' };
  const app = new App({ outdir, context, analyticsReporting: false, builtinCloudFormationValidation: false });
  const stack = new ServiceStack(app, 'Checked');
  addChecks(app, stack);
  const widened = stack.node.findAll().filter((construct) => construct instanceof LambdaFunction);
  for (const fn of widened)
    fn.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:GetItem'], resources: ['*'] }));
  expect(() => app.synth()).toThrow('validation-report.json');
  const { pluginReports } = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as Report;
  const found = pluginReports.flatMap(({ pluginName, violations }) =>
    violations.flatMap(({ ruleName, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => `${pluginName} ${ruleName} ${constructPath}`),
    ),
  );
  expect(widened).toHaveLength(12);
  expect(found.sort()).toEqual(
    widened
      // Its mapping may list all streams: `permissions.test.ts` says that this is all it may do with every resource.
      .filter(({ node }) => node.id !== 'relay' && !node.path.includes('/relay/'))
      .map(({ node }) => node.path.replace(/Function$/, 'Role/DefaultPolicy/Resource'))
      .map((path) => `AwsSolutions AwsSolutions-IAM5[Resource::*] ${path}`)
      .sort(),
  );
});
